// The rows of every node, for all trees of an iteration: each node has a contiguous range in a list of rows. Each tree
// has two lists. A split moves a node's rows from one list to the same range of the other, and the next split moves
// them back.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "data/target.hpp"
#include "engine/cpu/drawn_rows.hpp"
#include "engine/cpu/gradients.hpp"
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
  explicit RowPartition(size_t rows) : rows_(rows) {}
  size_t table_rows() const { return rows_; }

  // Every tree begins with the drawn rows.
  void reset(size_t trees, const DrawnRows& drawn, Context& context);
  // With the given rows, ascending or not.
  void reset(size_t trees, std::span<const Row> rows, Context& context);
  std::span<const Row> rows(const OpenNode& node) const {
    return {lists_[node.output][node.list].data() + node.begin, node.rows()};
  }

  // Writes the bins of some rows in the column of a split.
  using Bins = std::function<void(const SplitRule& rule, std::span<const Row> rows, std::uint8_t* out)>;
  // Rows keep their order on both sides, so the rows of every node stay ascending.
  // The children know the sums of this part of the table alone; `add_up` follows.
  void split(std::span<NodeSplit> splits, const Bins& bins, const Weights& weights, Context& context);
  // Sums of the children over all parts, in one message: rows, weights and, if there are other parts, gradients, where
  // these are given.
  void add_up(std::span<NodeSplit> splits, AllGradients gradients, const Weights& weights, Context& context) const;

 private:
  void make_lists(size_t trees) {
    if (lists_.size() != trees) lists_.assign(trees, {std::vector<Row>(rows_), std::vector<Row>(rows_)});
  }

  size_t rows_;
  std::vector<std::array<std::vector<Row>, 2>> lists_;  // of each tree
  std::vector<std::uint64_t> bits_;                     // whether each row goes left, chunk by chunk
};

}  // namespace frugal
