// When a split is worth its price: the only place where gains and prices meet before an offer is made.
#pragma once

#include <algorithm>
#include <vector>

#include "data/params.hpp"
#include "engine/engine.hpp"
#include "price/ledger.hpp"

namespace frugal {

// A node of the level that is grown.
struct Node {
  size_t output = 0;  // whose tree it is in
  size_t id = 0;      // place in the tree
  NodeSums sums;
};

struct Candidate {
  size_t column;
  ColumnSplit split;
};

class Worth {
 public:
  Worth(const Params& params, const Ledger& ledger, double mu) : params_(params), ledger_(ledger), mu_(mu) {}

  // What a gain must exceed at a node for any column that could be bought: the best of what is owned, or nothing.
  double least_gain(std::span<const Candidate> found) const {
    double best = params_.stop == Stop::paid ? 0.0 : -kInfinity;
    for (const Candidate& c : found)
      if (ledger_.owned(c.column)) best = std::max(best, c.split.gain);
    return best;
  }

  // What the column must gain where that is the least; infinite: it can't be bought.
  double limit(size_t column, double least_gain) const {
    if (!ledger_.can_buy(column)) return kInfinity;
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
};

}  // namespace frugal
