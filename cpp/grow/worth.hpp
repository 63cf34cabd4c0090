// Whether a split is worth its price: the only place where gains and prices are compared during the search.
#pragma once

#include <algorithm>
#include <vector>

#include "data/params.hpp"
#include "engine/engine.hpp"
#include "grow/constraints.hpp"
#include "grow/drawn.hpp"
#include "price/ledger.hpp"

namespace frugal {

// A node of the current level.
struct Node {
  size_t output = 0;  // its tree: that of an output, or 0 for the tree of all outputs
  size_t id = 0;      // in the tree
  NodeSums sums;
  NodeLimits limits{};
};

struct Candidate {
  size_t column;
  ColumnSplit split;
};

class Worth {
 public:
  Worth(const Params& params, const Ledger& ledger, double mu) : params_(params), ledger_(ledger), mu_(mu) {}

  // Whether the trees of this iteration may use the column at all, or buy it.
  bool drawn(size_t column) const { return drawn_.empty() || drawn_[column]; }
  bool all_drawn() const { return drawn_.empty(); }
  bool may_use(size_t column) const { return drawn(column) && ledger_.can_buy(column); }

  void begin_trees(const Drawn& drawn) { drawn_ = drawn.columns; }

  // The gain that a free column must exceed at a node: the best gain of the owned columns, or zero if only splits that
  // pay are made.
  double least_gain(std::span<const Candidate> found) const {
    double best = params_.stop == Stop::paid ? 0.0 : -kInfinity;
    for (const Candidate& c : found)
      if (ledger_.owned(c.column) && drawn(c.column)) best = std::max(best, c.split.gain);
    return best;
  }

  // The gain that a column must exceed to be worth its price, given the least gain; infinite if it can't be used.
  double limit(size_t column, double least_gain) const {
    if (!may_use(column)) return kInfinity;
    const double price = ledger_.price(column);
    return price > 0 ? least_gain + mu_ * price : least_gain;  // mu may be infinite
  }

  double net(size_t column, double gain) const {
    const double price = ledger_.price(column);
    return price > 0 ? gain - mu_ * price : gain;
  }

  const Ledger& ledger() const { return ledger_; }
  double mu() const { return mu_; }

 private:
  const Params& params_;
  const Ledger& ledger_;
  double mu_;
  std::vector<std::uint8_t> drawn_;
};

}  // namespace frugal
