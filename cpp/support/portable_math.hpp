// exp and log from basic IEEE operations, so that every machine and every instruction set gives the same bits. They
// have no branches, so the compiler vectorises loops over them. Internal linkage on purpose: kernels.cpp is compiled
// once per instruction set and must not share code between the copies.
#pragma once

#include <cstdint>

namespace frugal {

template <class To, class From>
static inline To bits_as(From v) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, v);
}

static inline double portable_exp(double x) {
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
static inline double portable_log(double x) {
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

}  // namespace frugal
