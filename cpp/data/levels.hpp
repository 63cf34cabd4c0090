// Categorical columns: the levels of a node in the order in which they are split.
#pragma once

#include <array>

#include "support/types.hpp"

namespace frugal {

inline constexpr size_t kMostBins = 256;
inline constexpr size_t kSetBytes = kMostBins / 8;

// A set of bins has one bit for each.
inline bool contains(const std::uint8_t* set, size_t bin) {
  return (set[bin / 8] >> (bin % 8)) & 1;
}

// The bins of a node that have rows, as groups in ascending order of mean gradient (ties: by the lowest bin). The best
// split into two sets is then a split between neighbours. Bins that are too light to be a leaf by themselves form one
// group: the mean of a few rows says little, and would let a column of many small levels fit anything.
struct LevelGroups {
  static constexpr Bin kNoRows = 0xFFFF;
  Bin count = 0;
  std::array<Bin, kMostBins> group_of_bin;                // kNoRows: no row of the node has this bin
  std::array<std::int64_t, 2 * (kMostBins + 1)> cells{};  // gradient and weight of each group, and room for one more

  // `cells`: gradient and weight of every bin.
  LevelGroups(const std::int64_t* cells, Bin bins, double min_weight);
};

}  // namespace frugal
