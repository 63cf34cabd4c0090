// Which bin a value is in. Internal linkage on purpose, as in convert.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/convert.hpp"

namespace frugal {

// The first b with v <= cuts[b], `count` if there is none, and count + 1 for NaN. A binary search without branches,
// because they could not be predicted.
static inline std::uint8_t bin_of(double v, const double* cuts, std::size_t count) {
  if (v != v) return narrow<std::uint8_t>(count + 1);
  if (count == 0) return 0;
  const double* base = cuts;
  while (count > 1) {
    const std::size_t half = count / 2;
    base += half & -std::size_t{base[half - 1] < v};
    count -= half;
  }
  return narrow<std::uint8_t>(base - cuts + (*base < v));
}

// The thresholds of a column as a search tree in single precision, of which a few vector registers hold all: node i has
// the children 2i and 2i + 1, node 1 is the root, and what is left over is infinite.
struct CutTree {
  static constexpr int kLeastLevels = 4, kMostLevels = 8;
  alignas(64) float nodes[1 << kMostLevels];
  const double* cuts;  // 255 at most
  std::size_t count;
  int levels;
};

}  // namespace frugal
