// Grows one tree against the ledger: which node is split on what, in which order, and what is bought on the
// way.
#pragma once

#include <vector>

#include "ledger.hpp"
#include "splitting.hpp"
#include "tree.hpp"

namespace frugal {

// A leaf of the grown tree and the rows in it.
struct Leaf {
  int node;
  OpenNode rows;
};

class Grower {
 public:
  Grower(const BinnedMatrix& X, const Weights& weights, const Params& params, Ledger& ledger, double mu);

  // `root_splits`, where given, receives the root's best raw split on every column.
  Tree grow(const GridGradients& gradients, Context& context, std::vector<ColumnSplit>* root_splits = nullptr);

  std::span<const Leaf> leaves() const { return leaves_; }  // of the last tree
  const RowPartition& partition() const { return partition_; }

 private:
  // The nodes of one depth, left to right.
  struct Level {
    std::vector<OpenNode> nodes;
    std::vector<Siblings> pairs;
  };
  // The best that a node could do now: one column's split at that column's price.
  struct Offer {
    double net, price;
    int column, node;  // column -1: no split is allowed
    bool owned;
  };

  Level root(Tree& tree, const GridGradients& gradients) const;
  const ColumnSplit& split_of(int node, int column) const {
    return splits_[static_cast<size_t>(node) * X_.columns() + static_cast<size_t>(column)];
  }
  Offer best_offer(int node) const;
  bool better(const Offer& a, const Offer& b) const;
  bool pays(const Offer& offer) const;
  void rank(std::vector<Offer>& open) const;
  std::vector<Offer> choose(size_t nodes);
  std::vector<ChosenSplit> part(const Level& level, const std::vector<Offer>& chosen, const GridGradients& gradients,
                                Context& context);
  ChosenSplit described(const OpenNode& node, const Offer& offer, const GridGradients& gradients) const;
  void write(ChosenSplit& split, double gain, Tree& tree) const;
  Level children(const Level& level, const std::vector<Offer>& chosen, const std::vector<ChosenSplit>& splits) const;

  const BinnedMatrix& X_;
  const Weights& weights_;
  const Params& params_;
  Ledger& ledger_;
  double mu_;
  SplitSearch search_;
  RowPartition partition_;
  std::vector<ColumnSplit> splits_;  // of the level at work: nodes * columns
  std::vector<Leaf> leaves_;
};

}  // namespace frugal
