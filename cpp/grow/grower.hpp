// Grows the trees of one iteration, one for each output or one for all: which nodes are split on which columns, in
// which order, and what is bought for that. In place of a tree there may be a line. All trees grow together, level by
// level, and the best offer of any tree goes first, so that the order of the classes does not matter.
#pragma once

#include <optional>
#include <vector>

#include "grow/lines.hpp"
#include "grow/search.hpp"
#include "price/ledger.hpp"
#include "tree/tree.hpp"

namespace frugal {

// A tree and its leaves, in the order of the engine's leaf sums.
struct GrownTree {
  Tree tree;
  std::vector<size_t> leaves;
};

class Grower {
 public:
  Grower(Engine& engine, const Params& params, const Constraints& constraints, Ledger& ledger, double mu,
         const DrawState& from, Context& context)
      : engine_(engine),
        params_(params),
        constraints_(constraints),
        ledger_(ledger),
        looks_(engine, ledger),
        worth_(params, ledger, looks_, mu),
        search_(engine, params, worth_, looks_, from, constraints, context) {
    if (params.base != Base::trees) lines_.emplace(engine, worth_, params.base == Base::lines);
  }

  // Uses the gradients of the engine's last `derive`. `root_gains`, if given, is raised to the largest raw gain of
  // every column at any root. A tree for all outputs is searched in a random direction, which follows from `number`.
  // The trees see the drawn rows and use drawn columns.
  std::vector<GrownTree> grow(std::uint64_t number, const Drawn& drawn, std::vector<double>* root_gains = nullptr);

  // Computes only the root gains, in the first direction: nothing is split or bought.
  void look(std::vector<double>& root_gains);

  bool looked_at_all() const { return search_.looked_at_all(); }
  void look_at_all(bool wanted) { search_.look_at_all(wanted); }
  const DrawState& draw_state() const { return search_.draw_state(); }

 private:
  // A possible split of a node: the best split of one column, at that column's price.
  struct Offer {
    double net, price;
    size_t column, node;  // column kNone: no split is allowed
    bool owned;
    ColumnSplit split;  // of a line only its gain
    bool line = false;  // a line in place of the tree
  };
  // A split that was chosen.
  struct Choice {
    SplitRule rule;
    std::array<bool, kMostBins> no_rows{};  // levels that no row of the node has
  };

  bool grows_trees() const { return params_.base != Base::lines; }
  std::vector<std::int8_t> direction(std::uint64_t number);
  void begin_trees(std::uint64_t number, const Drawn& drawn);
  std::vector<Node> roots(std::vector<GrownTree>& trees) const;
  void raise(std::vector<double>& root_gains, size_t roots);
  Offer best_offer(const Node& at, std::span<const Candidate> found, size_t node);
  Offer best_split(const Node& at, std::span<const Candidate> found, size_t node) const;
  static bool better(const Offer& a, const Offer& b);
  static bool equal(const Offer& a, const Offer& b);
  static std::vector<Offer> take_equal(std::span<const Node> level, const Offer& made, std::vector<Offer>& open);
  bool pays(const Offer& offer) const;
  void rank(std::span<const Node> level, std::vector<Offer>& open);
  // Whether the split of a node changes what others cost: it buys a feature, or rows look at one for the first time.
  static bool changes_prices(const Offer& offer) { return !offer.owned || offer.price > 0; }
  // What splits of nodes look at. `places`: by node, where the engine's level has it, or kNone.
  struct Open {
    std::span<Node> nodes;
    std::span<const size_t> places;
  };
  void look(const Offer& made, const Open& open);
  std::vector<Offer> pay(const Offer& made, std::vector<Offer> equal, const Open& open);
  void buy(const Offer& made, std::span<const Offer> open);
  std::vector<Offer> choose(std::span<Node> level);
  Choice described(const Offer& offer);
  // The leaves of trees that grow best first, and all nodes that they came from.
  struct Leaves {
    std::vector<Node> nodes;                    // by number, as they came
    std::vector<int> depth;                     // by number
    std::vector<std::vector<Candidate>> found;  // by number: what a leaf was found to offer
    std::vector<size_t> open;                   // their numbers, in the order of the engine's level
    std::vector<int> count;                     // by tree
  };
  std::vector<GrownTree> grow_level_by_level(std::uint64_t number, const Drawn& drawn, std::vector<double>* root_gains);
  std::vector<GrownTree> grow_best_first(std::uint64_t number, const Drawn& drawn, std::vector<double>* root_gains);
  bool may_grow(const Leaves& leaves, size_t number) const;
  void search(Leaves& leaves, std::vector<double>* root_gains);
  std::vector<Offer> choose(Leaves& leaves);
  void split(Leaves& leaves, std::vector<Offer> chosen, std::vector<GrownTree>& trees);
  static void take_lines(std::span<const Node> level, std::vector<Offer>& chosen, std::vector<GrownTree>& trees);
  std::vector<Node> split(std::span<const Node> level, std::span<const Offer> chosen, std::vector<GrownTree>& trees);
  std::array<Node, 2> children_of(const Node& node, const Choice& choice, const std::array<NodeSums, 2>& sums) const;
  void write(Choice& choice, const Offer& offer, std::span<Node> children, size_t id, Tree& tree) const;
  void route(std::span<const Choice> choices, std::span<const size_t> leaves);
  double weight_of(const NodeSums& node) const;

  Engine& engine_;
  const Params& params_;
  const Constraints& constraints_;
  Ledger& ledger_;
  Looks looks_;
  Worth worth_;
  Search search_;
  std::optional<Lines> lines_;
  bool some_rows_ = false;  // the trees see only some rows
};

}  // namespace frugal
