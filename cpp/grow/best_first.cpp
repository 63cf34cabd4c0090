// Trees of at most so many leaves: of all open leaves of all trees, the one whose best offer is worth most is split
// next.
#include <algorithm>

#include "grow/grower.hpp"

namespace frugal {
namespace {

// Nodes were numbered as they came; in a model they are numbered breadth first.
GrownTree breadth_first(const GrownTree& grown) {
  const Tree& from = grown.tree;
  GrownTree out;
  Tree& to = out.tree;
  std::vector<size_t> order{0}, now(from.nodes());
  for (size_t i = 0; i < order.size(); ++i) {
    now[order[i]] = i;
    if (!from.is_leaf(order[i])) order.insert(order.end(), {from.left_child(order[i]), from.left_child(order[i]) + 1});
  }
  for (size_t n : order) {
    const size_t id = to.add(from.weight[n]);
    to.feature[id] = from.feature[n];
    to.left[id] = from.is_leaf(n) ? -1 : narrow<std::int32_t>(now[from.left_child(n)]);
    to.missing_left[id] = from.missing_left[n];
    to.threshold[id] = from.threshold[n];
    to.gain[id] = from.gain[n];
    to.line[id] = from.line[n];
    to.bin[id] = from.bin[n];
    if (!from.is_leaf(n) && from.by_levels(n))
      to.level_set[id] = to.add_set(kMostBins, [&](size_t b) { return contains(from.levels(n), b); });
  }
  for (size_t leaf : grown.leaves) out.leaves.push_back(now[leaf]);
  return out;
}

}  // namespace

bool Grower::may_grow(const Leaves& leaves, size_t number) const {
  return leaves.depth[number] < params_.max_depth && leaves.count[leaves.nodes[number].output] < params_.max_leaf_nodes;
}

// Searches the open leaves that are new, and may be split.
void Grower::search(Leaves& leaves, std::vector<double>* root_gains) {
  const bool at_root = leaves.nodes.size() == leaves.open.size();
  std::vector<Node> level;
  std::vector<std::uint8_t> wanted;
  for (size_t number : leaves.open) {
    level.push_back(leaves.nodes[number]);
    wanted.push_back(number >= leaves.found.size() && may_grow(leaves, number));
  }
  leaves.found.resize(leaves.nodes.size());
  if (!grows_trees()) return;
  search_.level(level, at_root, true, at_root && root_gains, wanted);
  for (size_t i = 0; i < level.size(); ++i) {
    if (!wanted[i]) continue;
    leaves.nodes[leaves.open[i]] = level[i];
    const auto found = search_.candidates(i);
    leaves.found[leaves.open[i]].assign(found.begin(), found.end());
  }
}

// The best offer now, by the prices of this moment; with those of other trees that are equal, since what comes below
// one of them may change prices.
std::vector<Grower::Offer> Grower::choose(Leaves& leaves) {
  std::vector<Offer> open;
  for (size_t number : leaves.open)
    if (may_grow(leaves, number)) open.push_back(best_offer(leaves.nodes[number], leaves.found[number], number));
  std::sort(open.begin(), open.end(), better);
  if (open.empty() || !pays(open[0])) return {};
  std::vector<Offer> chosen{open[0]};
  open.erase(open.begin());
  std::vector<size_t> places(leaves.nodes.size(), kNone);
  for (size_t i = 0; i < leaves.open.size(); ++i) places[leaves.open[i]] = i;
  for (const Offer& other : pay(chosen[0], take_equal(leaves.nodes, chosen[0], open), {leaves.nodes, places}))
    chosen.push_back(other);
  buy(chosen[0], {});
  std::sort(chosen.begin(), chosen.end(), [](const Offer& a, const Offer& b) { return a.node < b.node; });
  return chosen;
}

// Makes the chosen splits; all other leaves wait. A line ends its tree.
void Grower::split(Leaves& leaves, std::vector<Offer> chosen, std::vector<GrownTree>& trees) {
  for (const Offer& offer : chosen)
    if (offer.line) leaves.count[leaves.nodes[offer.node].output] = params_.max_leaf_nodes;
  take_lines(leaves.nodes, chosen, trees);
  std::vector<Node> parents;
  std::vector<Choice> choices;
  std::vector<SplitRule> rules;
  for (Offer& offer : chosen) {
    const auto at = std::find(leaves.open.begin(), leaves.open.end(), offer.node);
    parents.push_back(leaves.nodes[offer.node]);
    leaves.found[offer.node] = {};
    offer.node = index(at - leaves.open.begin());
    choices.push_back(described(offer));
    rules.push_back(choices.back().rule);
  }
  const std::vector<NodeSums> sums = engine_.split(rules, {});
  std::vector<size_t> open;
  for (size_t i = 0; i < chosen.size(); ++i) {
    std::array<Node, 2> children = children_of(parents[i], choices[i], {sums[2 * i], sums[2 * i + 1]});
    write(choices[i], chosen[i], children, parents[i].id, trees[parents[i].output].tree);
    for (const Node& child : children) {
      open.push_back(leaves.nodes.size());
      leaves.nodes.push_back(child);
      leaves.depth.push_back(leaves.depth[leaves.open[chosen[i].node]] + 1);
    }
    ++leaves.count[parents[i].output];
  }
  route(choices, {});
  for (size_t i = 0; i < leaves.open.size(); ++i)
    if (std::none_of(chosen.begin(), chosen.end(), [&](const Offer& o) { return o.node == i; }))
      open.push_back(leaves.open[i]);
  leaves.open = std::move(open);
}

std::vector<GrownTree> Grower::grow_best_first(std::uint64_t number, const Drawn& drawn,
                                               std::vector<double>* root_gains) {
  std::vector<GrownTree> trees(trees_of(params_, engine_.outputs()));
  begin_trees(number, drawn);
  Leaves leaves{roots(trees), std::vector<int>(trees.size()), {}, {}, std::vector<int>(trees.size(), 1)};
  for (size_t i = 0; i < trees.size(); ++i) leaves.open.push_back(i);
  search(leaves, root_gains);
  if (root_gains) raise(*root_gains, trees.size());
  for (auto chosen = choose(leaves); !chosen.empty(); chosen = choose(leaves)) {
    split(leaves, std::move(chosen), trees);
    search(leaves, nullptr);
  }
  std::vector<size_t> all;
  for (size_t i = 0; i < leaves.open.size(); ++i) {
    const Node& leaf = leaves.nodes[leaves.open[i]];
    trees[leaf.output].leaves.push_back(leaf.id);
    all.push_back(i);
  }
  engine_.split({}, all);
  for (GrownTree& tree : trees) tree = breadth_first(tree);
  return trees;
}

}  // namespace frugal
