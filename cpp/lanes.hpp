// Dense columns in bins, eight side by side, row after row: one 64-bit load brings eight bins of a row, and their eight
// histograms stay in the first-level cache together.
#pragma once

#include <vector>

#include "types.hpp"

namespace frugal {

inline constexpr int kLanes = 8;

// A look at such columns, wherever they lie.
struct Lanes {
  size_t rows = 0;
  std::vector<size_t> columns;              // of the table, by place
  std::vector<const std::uint8_t*> groups;  // of eight places each

  size_t places() const { return columns.size(); }
  int width(size_t group) const {
    return static_cast<int>(std::min<size_t>(kLanes, columns.size() - group * size_t{kLanes}));
  }
};

}  // namespace frugal
