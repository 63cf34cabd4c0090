// Which rows are in which node: one list of rows in which every node is a stretch.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "binning.hpp"
#include "gradients.hpp"
#include "levels.hpp"
#include "types.hpp"

namespace frugal {

// A split that was chosen.
struct ChosenSplit {
  OpenNode node;
  int column = -1;
  int bin = 0;
  bool missing_left = false;
  std::array<bool, kMostBins> goes_left{};  // by bin, that of missing values too
  std::array<bool, kMostBins> no_rows{};    // levels that no row of the node has
  OpenNode left, right;                     // filled in by the partition: rows and sums
};

class RowPartition {
 public:
  explicit RowPartition(size_t rows) : rows_(rows), moved_(rows) {}

  void reset(Context& context);
  const Row* rows() const { return rows_.data(); }
  const Row* rows(const OpenNode& node) const { return rows_.data() + node.begin; }

  // Writes the bins of some rows in the column of a split.
  using Bins = std::function<void(const ChosenSplit& split, std::span<const Row> rows, std::uint8_t* out)>;
  // Rows keep their order on both sides, so every node's rows stay ascending.
  void split(std::span<ChosenSplit> splits, const Bins& bins, const GridGradients& gradients, const Weights& weights,
             Context& context);

 private:
  std::vector<Row> rows_, moved_;
};

}  // namespace frugal
