// Categorical columns: the levels of a node in the order in which they are split.
#pragma once

#include <array>
#include <cstdint>

namespace frugal {

inline constexpr int kMostBins = 256;
inline constexpr int kSetBytes = kMostBins / 8;

// A set of bins has one bit for each.
inline bool contains(const std::uint8_t* set, int bin) {
  return (set[bin / 8] >> (bin % 8)) & 1;
}

// The bins of a node that have rows, as groups, ascending by mean gradient (ties: by the lowest bin). The best split
// into two sets is then a split between neighbours. Bins that are too light to be a leaf by themselves are one group:
// the mean of a few rows says little, and would let a column of many small levels fit anything.
struct LevelGroups {
  int count = 0;
  std::array<std::int16_t, kMostBins> group_of_bin;       // -1: no row of the node has it
  std::array<std::int64_t, 2 * (kMostBins + 1)> cells{};  // gradient and weight of each group, then room for one more

  // `cells`: gradient and weight of every bin.
  LevelGroups(const std::int64_t* cells, int bins, double min_weight);
};

}  // namespace frugal
