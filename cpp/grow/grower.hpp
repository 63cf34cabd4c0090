// Grows the trees of one iteration, one for each output, side by side against the ledger: which node is split on what,
// in which order, and what is bought on the way. All trees are at the same level, and the best offer of any of them
// goes first, so that which classes come first in the alphabet decides nothing.
#pragma once

#include <vector>

#include "grow/search.hpp"
#include "price/ledger.hpp"
#include "tree/tree.hpp"

namespace frugal {

// A leaf of the grown tree and the rows in it.
struct Leaf {
  int node;
  OpenNode rows;
};

class Grower {
 public:
  Grower(const BinnedMatrix& X, const Weights& weights, size_t outputs, const Params& params, Ledger& ledger,
         double mu);

  // `root_gains`, where given, is raised to the best raw gain of every column at any root.
  std::vector<Tree> grow(AllGradients gradients, Context& context, std::vector<double>* root_gains = nullptr);

  // The root gains alone: nothing is split or bought.
  void look(AllGradients gradients, Context& context, std::vector<double>& root_gains);

  bool looked_at_all() const { return search_.looked_at_all(); }
  void look_at_all(bool wanted) { search_.look_at_all(wanted); }

  std::span<const Leaf> leaves(int output) const { return leaves_[static_cast<size_t>(output)]; }  // of its last tree
  const RowPartition& partition() const { return partition_; }

 private:
  // The best that a node could do now: one column's split at that column's price.
  struct Offer {
    double net, price;
    int column, node;  // column -1: no split is allowed
    bool owned;
    ColumnSplit split;
  };

  Level roots(std::vector<Tree>& trees, AllGradients gradients) const;
  void raise(std::vector<double>& root_gains, size_t roots) const;
  Offer best_offer(int node) const;
  static bool better(const Offer& a, const Offer& b);
  static bool equal(const Offer& a, const Offer& b);
  static std::vector<Offer> take_equal(const Level& level, const Offer& made, std::vector<Offer>& open);
  bool pays(const Offer& offer) const;
  void rank(std::vector<Offer>& open) const;
  std::vector<Offer> choose(const Level& level, Context& context);
  std::vector<ChosenSplit> part(const Level& level, const std::vector<Offer>& chosen, Context& context);
  ChosenSplit described(const OpenNode& node, const Offer& offer) const;
  void write(ChosenSplit& split, double gain, Tree& tree) const;
  Level children(const Level& level, const std::vector<Offer>& chosen, const std::vector<ChosenSplit>& splits) const;

  const BinnedMatrix& X_;
  const Weights& weights_;
  const Params& params_;
  Ledger& ledger_;
  double mu_;
  Search search_;
  RowPartition partition_;
  std::vector<std::vector<Leaf>> leaves_;  // by output
};

}  // namespace frugal
