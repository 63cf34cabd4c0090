// Which rows have looked at which columns, as one bit each, for columns that any row has looked at. Rows that the trees
// do not see are routed through them here.
#pragma once

#include <vector>

#include "engine/cpu/partition.hpp"

namespace frugal {

class LookedRows {
 public:
  LookedRows(size_t rows, size_t columns, const Weights& weights) : rows_(rows), columns_(columns), weights_(weights) {}

  bool kept() const { return kept_; }
  void keep() {
    kept_ = true;
    place_.resize(columns_);
  }
  // Rows that have looked at columns in an earlier fit: `flags` of all rows, column after column.
  void remember(std::span<const size_t> columns, std::span<const std::uint8_t> flags);
  // The weight of the rows of all parts that have looked.
  std::vector<std::int64_t> looked(std::span<const size_t> columns, Context& context) const;

  // The nodes of a level, each with its rows in `drawn`, and those that were not drawn.
  void begin_trees(size_t trees, const DrawnRows& drawn, Context& context);
  void route(std::span<const SplitRule> splits, std::span<const size_t> leaves, const RowPartition::Bins& bins,
             Context& context);

  // As in Engine.
  std::vector<std::int64_t> unseen(std::span<const size_t> nodes, std::span<const size_t> columns,
                                   std::span<const OpenNode> level, const RowPartition& drawn, Context& context) const;
  void look(size_t node, size_t column, std::span<const OpenNode> level, const RowPartition& drawn, Context& context);

 private:
  using Words = std::vector<std::uint64_t>;  // of up to 64 columns: a word for each row
  // Columns are numbered in the order in which rows look at them first; 0: no row has.
  size_t place(size_t column);
  std::vector<std::span<const Row>> rows_of(size_t node, std::span<const OpenNode> level,
                                            const RowPartition& drawn) const;

  size_t rows_, columns_;
  const Weights& weights_;
  bool kept_ = false;
  std::vector<size_t> place_;  // of each column, from 1 on; empty if looks are not kept
  size_t places_ = 0;
  std::vector<Words> words_;
  bool some_rows_ = false;         // some rows were not drawn
  RowPartition others_{0};         // those rows
  std::vector<OpenNode> waiting_;  // their nodes, as in the level
};

}  // namespace frugal
