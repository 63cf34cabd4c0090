// exp, log and the normal quantile from basic IEEE operations, so that every machine and every instruction set gives
// the same bits. They have no branches, so the compiler vectorises loops over them. Internal linkage on purpose:
// kernels.cpp is compiled once per instruction set and must not share code between the copies.
#pragma once

#include <cmath>
#include <cstdint>

#include "support/anywhere.hpp"

namespace frugal {

template <class To, class From>
FRUGAL_ANYWHERE static inline To bits_as(From v) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, v);
}

FRUGAL_ANYWHERE static inline double portable_exp(double x) {
  constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  x = x < -708.0 ? -708.0 : x;
  x = x > 709.0 ? 709.0 : x;
  double shifted = x * 1.4426950408889634 + kMagic;
  double k = shifted - kMagic;
  double r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10;
  double s = 1.0 / 6227020800.0;
  s = s * r + 1.0 / 479001600.0;
  s = s * r + 1.0 / 39916800.0;
  s = s * r + 1.0 / 3628800.0;
  s = s * r + 1.0 / 362880.0;
  s = s * r + 1.0 / 40320.0;
  s = s * r + 1.0 / 5040.0;
  s = s * r + 1.0 / 720.0;
  s = s * r + 1.0 / 120.0;
  s = s * r + 1.0 / 24.0;
  s = s * r + 1.0 / 6.0;
  s = s * r + 1.0 / 2.0;
  s = s * r + 1.0;
  s = s * r + 1.0;
  // The low bits of `shifted` hold k; moved to the exponent they multiply by 2^k.
  auto bits = bits_as<std::uint64_t>(s) + (bits_as<std::uint64_t>(shifted) << 52);
  return bits_as<double>(bits);
}

// For positive, normal x.
FRUGAL_ANYWHERE static inline double portable_log(double x) {
  constexpr double kMagic = 6755399441055744.0;
  auto bits = bits_as<std::int64_t>(x);
  // The exponent is chosen so that the mantissa lies in [sqrt(1/2), sqrt(2)).
  std::int64_t exponent = (bits - 0x3FE6A09E667F3BCDLL) >> 52;
  double mantissa = bits_as<double>(bits - (exponent << 52));
  double e = bits_as<double>(bits_as<std::int64_t>(kMagic) + exponent) - kMagic;
  double s = (mantissa - 1.0) / (mantissa + 1.0);
  double z = s * s;
  double p = 1.0 / 23.0;
  p = p * z + 1.0 / 21.0;
  p = p * z + 1.0 / 19.0;
  p = p * z + 1.0 / 17.0;
  p = p * z + 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  return e * 0.6931471803691238 + (2.0 * s + (2.0 * s * z * p + e * 1.9082149292705877e-10));
}

// The quantile of the normal distribution at p, with 0 < p < 1: Wichura's rational functions (AS 241, PPND16), to about
// 16 digits.
static inline double portable_normal_quantile(double p) {
  constexpr double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                          1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                          3.3430575583588128105e+4, 2.5090809287301226727e+3};
  constexpr double b[] = {1.0,
                          4.2313330701600911252e+1,
                          6.8718700749205790830e+2,
                          5.3941960214247511077e+3,
                          2.1213794301586595867e+4,
                          3.9307895800092710610e+4,
                          2.8729085735721942674e+4,
                          5.2264952788528545610e+3};
  constexpr double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                          3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                          2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double d[] = {1.0,
                          2.05319162663775882187e0,
                          1.67638483018380384940e0,
                          6.89767334985100004550e-1,
                          1.48103976427480074590e-1,
                          1.51986665636164571966e-2,
                          5.47593808499534494600e-4,
                          1.05075007164441684324e-9};
  constexpr double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                          2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                          2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double f[] = {1.0,
                          5.99832206555887937690e-1,
                          1.36929880922735805310e-1,
                          1.48753612908506148525e-2,
                          7.86869131145613259100e-4,
                          1.84631831751005468180e-5,
                          1.42151175831644588870e-7,
                          2.04426310338993978564e-15};
  const auto ratio = [](const double* above, const double* below, double r) {
    double n = above[7], m = below[7];
    for (int i = 6; i >= 0; --i) {
      n = n * r + above[i];
      m = m * r + below[i];
    }
    return n / m;
  };
  const double q = p - 0.5;
  if (q >= -0.425 && q <= 0.425) return q * ratio(a, b, 0.180625 - q * q);
  const double r = std::sqrt(-portable_log(q < 0 ? p : 1.0 - p));
  const double z = r <= 5.0 ? ratio(c, d, r - 1.6) : ratio(e, f, r - 5.0);
  return q < 0 ? -z : z;
}

}  // namespace frugal
