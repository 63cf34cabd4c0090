// Which rows are in which node, for the trees of all outputs: lists of rows in which every node is a stretch. A split
// moves a node's rows from one list to the same stretch of another, and the next split moves them back.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "data/binning.hpp"
#include "data/levels.hpp"
#include "data/types.hpp"
#include "loss/gradients.hpp"

namespace frugal {

// A split that was chosen.
struct ChosenSplit {
  OpenNode node;
  int column = -1;
  int bin = 0;
  int missing_bin = 0;
  bool missing_left = false;
  bool listed = false;                      // which bins go left is in goes_left; otherwise all up to `bin`
  std::array<bool, kMostBins> goes_left{};  // by bin, that of missing values too
  std::array<bool, kMostBins> no_rows{};    // levels that no row of the node has
  OpenNode left, right;                     // filled in by the partition: rows and weights
};

class RowPartition {
 public:
  RowPartition(size_t rows, size_t outputs) : lists_(outputs, {std::vector<Row>(rows), std::vector<Row>(rows)}) {}

  void reset(Context& context);
  const Row* rows(const OpenNode& node) const {
    return lists_[static_cast<size_t>(node.output)][static_cast<size_t>(node.list)].data() + node.begin;
  }

  // Writes the bins of some rows in the column of a split.
  using Bins = std::function<void(const ChosenSplit& split, std::span<const Row> rows, std::uint8_t* out)>;
  // Rows keep their order on both sides, so every node's rows stay ascending.
  void split(std::span<ChosenSplit> splits, const Bins& bins, const Weights& weights, Context& context);

 private:
  std::vector<std::array<std::vector<Row>, 2>> lists_;  // of each output
  std::vector<std::uint64_t> bits_;                     // which rows go left, in the order of the work
};

}  // namespace frugal
