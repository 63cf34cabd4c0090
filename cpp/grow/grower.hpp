// Grows the trees of one iteration, one for each output, side by side against the ledger: which node is split on what,
// in which order, and what is bought on the way. All trees are at the same level, and the best offer of any of them
// goes first, so that which classes come first in the alphabet decides nothing.
#pragma once

#include <vector>

#include "grow/search.hpp"
#include "price/ledger.hpp"
#include "tree/tree.hpp"

namespace frugal {

// A tree and its leaves, in the order in which the engine knows them.
struct GrownTree {
  Tree tree;
  std::vector<size_t> leaves;
};

class Grower {
 public:
  Grower(Engine& engine, const Params& params, Ledger& ledger, double mu, const DrawState& from, Context& context)
      : engine_(engine),
        params_(params),
        ledger_(ledger),
        worth_(params, ledger, mu),
        search_(engine, params, ledger, mu, from, context) {}

  // On the gradients that the engine has derived last. `root_gains`, where given, is raised to the best raw gain of
  // every column at any root.
  std::vector<GrownTree> grow(std::vector<double>* root_gains = nullptr);

  // The root gains alone: nothing is split or bought.
  void look(std::vector<double>& root_gains);

  bool looked_at_all() const { return search_.looked_at_all(); }
  void look_at_all(bool wanted) { search_.look_at_all(wanted); }
  const DrawState& draw_state() const { return search_.draw_state(); }

 private:
  // The best that a node could do now: one column's split at that column's price.
  struct Offer {
    double net, price;
    size_t column, node;  // column kNone: no split is allowed
    bool owned;
    ColumnSplit split;
  };
  // A split as it is written down.
  struct Choice {
    SplitRule rule;
    std::array<bool, kMostBins> no_rows{};  // levels that no row of the node has
  };

  std::vector<Node> roots(std::vector<GrownTree>& trees) const;
  void raise(std::vector<double>& root_gains, size_t roots) const;
  Offer best_offer(size_t node) const;
  static bool better(const Offer& a, const Offer& b);
  static bool equal(const Offer& a, const Offer& b);
  static std::vector<Offer> take_equal(std::span<const Node> level, const Offer& made, std::vector<Offer>& open);
  bool pays(const Offer& offer) const;
  void rank(std::vector<Offer>& open) const;
  std::vector<Offer> choose(std::span<const Node> level);
  Choice described(const Offer& offer);
  std::vector<Node> split(std::span<const Node> level, std::span<const Offer> chosen, std::vector<GrownTree>& trees);
  void write(const Choice& choice, const Offer& offer, std::span<Node> children, size_t id, Tree& tree) const;
  double weight_of(const NodeSums& node) const;

  Engine& engine_;
  const Params& params_;
  Ledger& ledger_;
  Worth worth_;
  Search search_;
};

}  // namespace frugal
