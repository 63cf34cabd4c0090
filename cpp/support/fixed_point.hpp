// Real numbers as integers on a grid, so that sums are exact and do not depend on order, threads or machine.
//
// The grid steps are powers of two chosen from the data alone. Multiplying all integers by a power of two changes no
// later result, which is why a row of weight k gives the same model as k equal rows.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "support/types.hpp"

namespace frugal {

// The largest |gradient| of a tree becomes at most 2^26 and the sum of all weights at most 2^36: the sum of weight
// times gradient over all rows stays below 2^63, so histogram cells are plain 64-bit integers.
inline constexpr int kGradientBits = 26;
inline constexpr int kWeightBits = 36;
// Sums over leaves use a far finer grid and 128 bits.
inline constexpr int kLeafBits = 60;

// The exponent that brings the largest magnitude to at most 2^bits.
inline int grid_exponent(double largest, int bits) {
  if (!(largest > 0)) return 0;
  int exponent = 0;
  std::frexp(largest, &exponent);
  return bits - exponent;
}

// v * 2^shift, also where 2^shift itself would overflow or underflow.
inline double scaled(double v, int shift) {
  return std::ldexp(v, shift);
}

inline std::int64_t to_grid(double v, int shift) {
  return truncated<std::int64_t>(std::nearbyint(scaled(v, shift)));
}

// A grid for values up to `largest`, which becomes at most 2^bits.
class Grid {
 public:
  Grid(double largest, int bits)
      : shift_(grid_exponent(largest, bits)),
        plain_(std::abs(shift_) < 1000),
        scale_(plain_ ? scaled(1.0, shift_) : 0) {}

  int shift() const { return shift_; }
  bool plain() const { return plain_; }  // 2^shift is a normal double, so values can be multiplied by scale()
  double scale() const { return scale_; }
  std::int64_t at(double v) const { return plain_ ? std::llrint(v * scale_) : to_grid(v, shift_); }
  double back(Int128 sum) const { return scaled(real(sum), -shift_); }

 private:
  int shift_;
  bool plain_;
  double scale_;
};

}  // namespace frugal
