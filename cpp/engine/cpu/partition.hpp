// The rows of every node, for the trees of all outputs: each node has a contiguous range in a list of rows. Each output
// has two lists. A split moves a node's rows from one list to the same range of the other, and the next split moves
// them back.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "data/target.hpp"
#include "engine/cpu/node.hpp"
#include "support/threads.hpp"

namespace frugal {

// A node and its split.
struct NodeSplit {
  const SplitRule* rule;
  OpenNode node;
  OpenNode left{}, right{};  // filled in by the partition
};

class RowPartition {
 public:
  RowPartition(size_t rows, size_t outputs) : lists_(outputs, {std::vector<Row>(rows), std::vector<Row>(rows)}) {}

  void reset(Context& context);
  std::span<const Row> rows(const OpenNode& node) const {
    return {lists_[node.output][node.list].data() + node.begin, node.rows()};
  }

  // Writes the bins of some rows in the column of a split.
  using Bins = std::function<void(const SplitRule& rule, std::span<const Row> rows, std::uint8_t* out)>;
  // Rows keep their order on both sides, so the rows of every node stay ascending.
  void split(std::span<NodeSplit> splits, const Bins& bins, const Weights& weights, Context& context);

 private:
  std::vector<std::array<std::vector<Row>, 2>> lists_;  // of each output
  std::vector<std::uint64_t> bits_;                     // whether each row goes left, chunk by chunk
};

}  // namespace frugal
