// Upper bounds on gains. A column whose bound is below its limit can't be worth its price at a node, and need not be
// searched there.
//
// sqrt(2 gain) of a split is the length of a projection of the node's centred gradients. It is at most the length of
// the gradients themselves, and at most what the column gained at the root some trees ago plus how far the gradients
// have moved since.
#pragma once

#include <vector>

#include "engine/engine.hpp"

namespace frugal {

// An upper bound on the gain of any split of the node, from its exact sums, squares included.
double most_gain(const NodeSums& node, const GradientFacts& gradients, int weight_shift);

// Upper bounds on the gains of columns at the root, from their gains in earlier iterations.
class RootBounds {
 public:
  explicit RootBounds(size_t columns) : columns_(columns) {}

  // Records how far the gradients of each output have moved since its last tree. `for_all`: there is one tree for all
  // outputs, in another direction every time, so that earlier gains say nothing; nor do they where trees see only
  // `some_rows`.
  void begin_trees(Engine& engine, bool for_all, bool some_rows);
  double bound(size_t output, size_t column) const;
  // Records the largest gain of the column at the root of this output's tree. It must be the maximum over a set of
  // splits that is the same for every tree: for a categorical column all pairs of sets of levels, not only those in the
  // order of their mean gradients.
  void record(size_t output, size_t column, double gain);

 private:
  struct Output {
    double way = 0.0;            // the sum of all moves so far
    std::vector<double> length;  // of each column: sqrt(2 gain) when last recorded, minus `way` at that time
  };
  size_t columns_;
  std::vector<Output> outputs_;
};

}  // namespace frugal
