// The memory layout of dense columns in bins: groups of eight columns, row by row. One 64-bit load reads eight bins of
// a row, and the histograms of the eight columns fit the first-level cache together.
#pragma once

#include <algorithm>
#include <vector>

#include "support/types.hpp"

namespace frugal {

inline constexpr size_t kLanes = 8;

// A view of columns in this layout, or of columns that are stored one by one. A column's position in it is its place.
struct Lanes {
  size_t rows = 0;
  std::vector<size_t> columns;              // the table's column at each place
  std::vector<const std::uint8_t*> groups;  // the bins of each group
  size_t in_group = kLanes;                 // columns of a group: eight, or one
  // For groups in which all columns have at most two bins: one byte per row, with one bit for each column. nullptr for
  // other groups; an empty list if there are no such groups.
  std::vector<const std::uint8_t*> folded;

  size_t places() const { return columns.size(); }
  size_t first(size_t group) const { return std::min(columns.size(), group * in_group); }
  size_t width(size_t group) const { return first(group + 1) - first(group); }
};

}  // namespace frugal
