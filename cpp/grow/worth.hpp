// Whether a split is worth its price: the only place where gains and prices are compared during the search.
#pragma once

#include <algorithm>
#include <vector>

#include "data/params.hpp"
#include "engine/engine.hpp"
#include "grow/constraints.hpp"
#include "grow/drawn.hpp"
#include "grow/looks.hpp"
#include "price/ledger.hpp"

namespace frugal {

// A node of the current level.
struct Node {
  size_t output = 0;  // its tree: that of an output, or 0 for the tree of all outputs
  size_t id = 0;      // in the tree
  NodeSums sums;
  NodeLimits limits{};
  NodeLooks looks{};  // only where prices are per row
};

struct Candidate {
  size_t column;
  ColumnSplit split;
};

class Worth {
 public:
  Worth(const Params& params, const Ledger& ledger, const Looks& looks, double mu)
      : params_(params), ledger_(ledger), looks_(looks), mu_(mu) {}

  // Whether the trees of this iteration may use the column at all, or buy it.
  bool drawn(size_t column) const { return drawn_.empty() || drawn_[column]; }
  bool all_drawn() const { return drawn_.empty(); }
  bool may_use(size_t column) const { return drawn(column) && ledger_.can_buy(column); }
  bool may_use(const Node& node, size_t column) const { return may_use(column, unseen(node, column)); }
  bool may_use(size_t column, std::int64_t unseen) const { return drawn(column) && ledger_.can_buy(column, unseen); }

  // The weight of the rows of a node that pay for a column, if it is split on it.
  std::int64_t unseen(const Node& node, size_t column) const { return looks_.unseen(node.looks, column); }
  double price(const Node& node, size_t column) const { return ledger_.price(column, unseen(node, column)); }

  void begin_trees(const Drawn& drawn) { drawn_ = drawn.columns; }

  // The gain that a free column must exceed at a node: the best net gain of the owned columns, or zero if only splits
  // that pay are made. Where there is a budget, an owned column for which rows pay may be too expensive later.
  double least_gain(const Node& node, std::span<const Candidate> found) const {
    double best = least_gain();
    for (const Candidate& c : found) {
      if (!ledger_.owned(c.column) || !drawn(c.column)) continue;
      const double price = this->price(node, c.column);
      if (!(price > 0 && ledger_.limited())) best = std::max(best, net_at(price, c.split.gain));
    }
    return best;
  }
  double least_gain() const { return params_.stop == Stop::paid ? 0.0 : -kInfinity; }

  // The gain that a column must exceed to be worth its price, given the least gain; infinite if it can't be used.
  double limit(const Node& node, size_t column, double least_gain) const {
    return limit(column, unseen(node, column), least_gain);
  }
  double limit(size_t column, std::int64_t unseen, double least_gain) const {
    if (!may_use(column, unseen)) return kInfinity;
    const double price = ledger_.price(column, unseen);
    return price > 0 ? least_gain + mu_ * price : least_gain;  // mu may be infinite
  }

  double net(const Node& node, size_t column, double gain) const { return net_at(price(node, column), gain); }
  double net_at(double price, double gain) const { return price > 0 ? gain - mu_ * price : gain; }

  const Ledger& ledger() const { return ledger_; }
  double mu() const { return mu_; }

 private:
  const Params& params_;
  const Ledger& ledger_;
  const Looks& looks_;
  double mu_;
  std::vector<std::uint8_t> drawn_;
};

}  // namespace frugal
