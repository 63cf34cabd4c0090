// Dense columns in bins, eight side by side, row after row: one 64-bit load brings eight bins of a row, and their eight
// histograms stay in the first-level cache together.
#pragma once

#include <vector>

#include "support/types.hpp"

namespace frugal {

inline constexpr int kLanes = 8;

// A look at such columns, wherever they lie; or at columns that lie each by itself.
struct Lanes {
  size_t rows = 0;
  std::vector<size_t> columns;              // of the table, by place
  std::vector<const std::uint8_t*> groups;  // of so many places each:
  size_t in_group = kLanes;                 // eight, or one
  // Where all columns of a group have two bins: one byte a row, with a bit for each. Empty: nowhere.
  std::vector<const std::uint8_t*> folded;

  size_t places() const { return columns.size(); }
  size_t first(size_t group) const { return std::min(columns.size(), group * in_group); }
  int width(size_t group) const { return static_cast<int>(first(group + 1) - first(group)); }
};

}  // namespace frugal
