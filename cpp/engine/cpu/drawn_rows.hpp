// The rows that the trees of an iteration see: all of them, or those that are drawn (engine/engine.hpp, RowDraw).
#pragma once

#include <vector>

#include "data/target.hpp"
#include "engine/cpu/gradients.hpp"
#include "support/threads.hpp"

namespace frugal {

class DrawnRows {
 public:
  // `own`: the number of rows in this part of the table. `weights` must outlive it.
  DrawnRows(const Weights& weights, size_t own, Context& context);

  void draw(const RowDraw& draw, Context& context);
  bool all() const { return draw_.all(); }
  bool has(size_t row) const { return all() || draw_.has(first_ + row); }
  // Those of this part, ascending; empty if all are seen.
  std::span<const Row> rows() const { return rows_; }
  size_t count() const { return all() ? own_ : rows_.size(); }  // in this part
  // The weights of all rows, which are 0 for those that are not drawn.
  const Weights& weights();
  // The sums of these rows over all parts, without squares.
  NodeSums sums(const GridGradients& gradients, Context& context) const;

 private:
  const Weights& whole_;
  size_t own_;
  std::uint64_t first_ = 0;  // the number of this part's first row in the whole table
  RowDraw draw_;
  std::vector<Row> rows_;
  Weights drawn_;  // its units are filled in when they are asked for
  bool filled_ = false;
};

}  // namespace frugal
