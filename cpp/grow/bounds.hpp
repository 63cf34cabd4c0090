// Proofs that a column which is not owned can't be worth its price at a node, so that nobody needs to look at it.
//
// sqrt(2 gain) of a split is the length of a projection of the node's centred gradients. It is at most the length of
// the gradients themselves, and at most what the column gained at the root some trees ago plus how far the gradients
// have moved since.
#pragma once

#include <vector>

#include "engine/engine.hpp"

namespace frugal {

// More than any split of the node can gain. Its exact sums are needed, squares too.
double most_gain(const NodeSums& node, const GradientFacts& gradients, int weight_shift);

// What columns can gain at the root, from what they gained there before.
class RootBounds {
 public:
  explicit RootBounds(size_t columns) : columns_(columns) {}

  // Takes note of how far the gradients of each output have moved since its last tree.
  void begin_trees(Engine& engine);
  double bound(size_t output, size_t column) const;
  // The most that a split of the column gains at the root of this output's tree, out of a family of splits that is the
  // same for every tree: which levels of a category are on which side, say, but not in which order they come.
  void know(size_t output, size_t column, double gain);

 private:
  struct Output {
    double way = 0.0;            // length of all moves so far
    std::vector<double> length;  // sqrt(2 gain) of each column when last known, less the way until then
  };
  size_t columns_;
  std::vector<Output> outputs_;
};

}  // namespace frugal
