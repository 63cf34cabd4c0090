#include "grow/grower.hpp"

#include <algorithm>
#include <tuple>

#include "support/fixed_point.hpp"
#include "support/mixing.hpp"

namespace frugal {
namespace {

constexpr int kMostProbes = 16;  // until classes have opposite signs

template <class Offers>
bool contains(const Offers& offers, size_t node) {
  return std::any_of(offers.begin(), offers.end(), [&](const auto& offer) { return offer.node == node; });
}

}  // namespace

double Grower::weight_of(const NodeSums& node) const {
  return scaled(real(node.weight), -engine_.table().weight_shift);
}

std::vector<Node> Grower::roots(std::vector<GrownTree>& trees) const {
  std::vector<Node> level;
  for (size_t k = 0; k < trees.size(); ++k) {
    Node node;
    node.output = k;
    node.sums = engine_.root(k);
    node.looks = looks_.of_all_rows();
    node.id = trees[k].tree.add(weight_of(node.sums));
    level.push_back(node);
  }
  return level;
}

// The best split of a node, or at a root a line, if that is worth more.
Grower::Offer Grower::best_offer(const Node& at, std::span<const Candidate> found, size_t node) {
  const bool root = at.id == 0;
  const Offer split = grows_trees() ? best_split(at, found, node) : Offer{-kInfinity, 0.0, kNone, node, false, {}};
  if (!lines_ || !root) return split;
  const LineOffer line = lines_->best(at.output);
  if (line.column == kNone) return split;
  ColumnSplit gain;
  gain.gain = line.gain;
  const size_t c = line.column;
  const Offer offer{line.net, line.price, c, node, ledger_.owned(c), gain, true};
  return split.column == kNone || better(offer, split) ? offer : split;
}

Grower::Offer Grower::best_split(const Node& at, std::span<const Candidate> found, size_t node) const {
  Offer best{-kInfinity, 0.0, kNone, node, false, {}};
  for (const Candidate& candidate : found) {
    const size_t c = candidate.column;
    if (!worth_.may_use(at, c)) continue;
    const double price = worth_.price(at, c);
    const Offer offer{worth_.net_at(price, candidate.split.gain), price, c, node, ledger_.owned(c), candidate.split};
    if (best.column == kNone || better(offer, best)) best = offer;
  }
  return best;
}

// The larger net gain comes first. Ties: owned columns, then the lower price, column, a line, the lower threshold,
// node.
bool Grower::better(const Offer& a, const Offer& b) {
  if (a.net != b.net) return a.net > b.net;
  auto rest = [](const Offer& o) { return std::tuple(!o.owned, o.price, o.column, !o.line, o.split.bin, o.node); };
  return rest(a) < rest(b);
}

// The same offer at two nodes.
bool Grower::equal(const Offer& a, const Offer& b) {
  auto all = [](const Offer& o) { return std::tuple(o.net, o.owned, o.price, o.column, o.line, o.split.bin); };
  return all(a) == all(b);
}

bool Grower::pays(const Offer& offer) const {
  return offer.column != kNone && (params_.stop == Stop::never || offer.net > 0);
}

// Updates the offers of the open nodes and sorts them, best first; nodes without an offer come last.
void Grower::rank(std::span<const Node> level, std::vector<Offer>& open) {
  for (auto& offer : open) {
    const auto found = grows_trees() ? search_.candidates(offer.node) : std::span<const Candidate>{};
    offer = best_offer(level[offer.node], found, offer.node);
  }
  std::sort(open.begin(), open.end(), better);
}

// Takes out the offers of other trees that are equal to the chosen one, one of each tree: they are accepted together
// with it. If they were judged after prices have changed, the order of classes would matter.
std::vector<Grower::Offer> Grower::take_equal(std::span<const Node> level, const Offer& made,
                                              std::vector<Offer>& open) {
  std::vector<size_t> outputs{level[made.node].output};
  std::vector<Offer> taken;
  auto end = std::find_if_not(open.begin(), open.end(), [&](const Offer& o) { return equal(o, made); });
  auto kept = std::remove_if(open.begin(), end, [&](const Offer& o) {
    const size_t output = level[o.node].output;
    if (std::find(outputs.begin(), outputs.end(), output) != outputs.end()) return false;
    outputs.push_back(output);
    taken.push_back(o);
    return true;
  });
  open.erase(kept, end);
  return taken;
}

// The rows of a node look at a column. The same rows are in nodes of other trees.
void Grower::look(const Offer& made, const Open& open) {
  if (!looks_.kept()) return;
  std::vector<size_t> numbers;
  std::vector<NodeLooks*> others;
  for (size_t n = 0; n < open.nodes.size(); ++n) {
    Node& node = open.nodes[n];
    const bool searched = open.places[n] != kNone && node.looks.rows > 0;
    if (!searched || node.output == open.nodes[made.node].output) continue;
    numbers.push_back(open.places[n]);
    others.push_back(&node.looks);
  }
  looks_.look(open.places[made.node], open.nodes[made.node].looks, made.column, numbers, others);
}

// Pays for an offer, and for equal ones of other trees that the budget still allows then; returns those.
std::vector<Grower::Offer> Grower::pay(const Offer& made, std::vector<Offer> equal, const Open& open) {
  if (!made.owned) ledger_.buy(made.column, made.split.gain);
  look(made, open);
  std::vector<Offer> paid;
  for (const Offer& other : equal) {
    if (!worth_.may_use(open.nodes[other.node], made.column)) continue;
    look(other, open);
    paid.push_back(other);
  }
  return paid;
}

// A purchase changes prices, so nodes that are still open may be searched again.
void Grower::buy(const Offer& made, std::span<const Offer> open) {
  if (!grows_trees() || made.owned) return;
  std::vector<size_t> still_open;
  for (const Offer& offer : open) still_open.push_back(offer.node);
  search_.bought(made.column, still_open);
}

// Chooses the splits of one level, and at the roots lines. The node with the best offer is split first. A purchase
// changes prices, so all nodes that are still open are then judged again, always from raw gains.
std::vector<Grower::Offer> Grower::choose(std::span<Node> level) {
  std::vector<Offer> open(level.size()), chosen;
  std::vector<size_t> places(level.size());
  for (size_t i = 0; i < open.size(); ++i) places[i] = open[i].node = i;
  rank(level, open);
  size_t next = 0;
  while (next < open.size() && pays(open[next])) {
    const Offer made = open[next++];
    chosen.push_back(made);
    if (!changes_prices(made)) continue;
    open.erase(open.begin(), open.begin() + next);
    std::vector<Offer> equal = take_equal(level, made, open);
    const std::vector<Offer> paid = pay(made, equal, {level, places});
    for (const Offer& other : equal) (contains(paid, other.node) ? chosen : open).push_back(other);
    buy(made, open);
    rank(level, open);
    next = 0;
  }
  std::sort(chosen.begin(), chosen.end(), [](const Offer& a, const Offer& b) { return a.node < b.node; });
  return chosen;
}

// Which bins go left.
Grower::Choice Grower::described(const Offer& offer) {
  const ColumnFacts& column = engine_.table().columns[offer.column];
  Choice choice;
  SplitRule& rule = choice.rule;
  rule.node = offer.node;
  rule.column = offer.column;
  rule.bin = offer.split.bin;
  rule.missing_bin = column.bins;
  rule.missing_left = offer.split.missing == MissingSide::left;
  rule.listed = column.categorical;
  if (!rule.listed) return choice;
  const double min_weight = scaled(params_.min_samples_leaf, engine_.table().weight_shift);
  const LevelGroups levels(engine_.cells(offer.node, offer.column).data(), column.bins, min_weight);
  for (size_t b = 0; b < column.bins; ++b) {
    choice.no_rows[b] = levels.group_of_bin[b] == LevelGroups::kNoRows;
    rule.goes_left[b] = choice.no_rows[b] ? rule.missing_left : levels.group_of_bin[b] <= rule.bin;
  }
  if (column.bins < rule.goes_left.size()) rule.goes_left[column.bins] = rule.missing_left;
  return choice;
}

void Grower::write(Choice& choice, const Offer& offer, std::span<Node> children, size_t id, Tree& tree) const {
  const auto cuts = engine_.table().thresholds->of(offer.column);
  const Bin bin = choice.rule.bin;
  const bool heavier_left = children[0].sums.weight >= children[1].sums.weight;
  const bool missing_left = offer.split.missing == MissingSide::unseen ? heavier_left  // nothing learned
                                                                       : choice.rule.missing_left;
  tree.feature[id] = narrow<std::int32_t>(offer.column);
  tree.bin[id] = bin;
  if (choice.rule.listed) {
    tree.level_set[id] =
        tree.add_set(cuts.size() + 1, [&](size_t b) {  // levels without rows go where missing values go
          return choice.no_rows[b] ? missing_left : choice.rule.goes_left[b];
        });
  } else {
    tree.threshold[id] = bin < cuts.size() ? cuts[bin] : kInfinity;  // infinity: all values that are not missing
  }
  tree.missing_left[id] = missing_left;
  tree.gain[id] = offer.split.gain;
  for (Node& child : children) child.id = tree.add(weight_of(child.sums));
  tree.left[id] = narrow<std::int32_t>(children[0].id);
  choice.rule.missing_left = missing_left;
}

// Rows that were not drawn look at features, too. Where their values go that no drawn row has is known by now.
void Grower::route(std::span<const Choice> choices, std::span<const size_t> leaves) {
  if (!looks_.kept() || !some_rows_) return;
  std::vector<SplitRule> rules;
  for (const Choice& choice : choices) {
    SplitRule rule = choice.rule;
    const size_t bins = engine_.table().columns[rule.column].bins;
    for (size_t b = 0; rule.listed && b < bins; ++b)
      if (choice.no_rows[b]) rule.goes_left[b] = rule.missing_left;
    if (rule.listed && bins < rule.goes_left.size()) rule.goes_left[bins] = rule.missing_left;
    rules.push_back(rule);
  }
  engine_.route(rules, leaves);
}

// Both children of a node, with what constraints ask of them.
std::array<Node, 2> Grower::children_of(const Node& node, const Choice& choice,
                                        const std::array<NodeSums, 2>& sums) const {
  const bool by_value = !choice.rule.listed && choice.rule.bin < choice.rule.missing_bin - 1;
  const NodeLimits limits =
      below(constraints_, node.limits, choice.rule.column, by_value, engine_.table().columns.size());
  return {Node{node.output, 0, sums[0], limits, {}}, Node{node.output, 0, sums[1], limits, {}}};
}

// Makes the chosen splits; all other nodes of the level become leaves. Returns the next level.
std::vector<Node> Grower::split(std::span<const Node> level, std::span<const Offer> chosen,
                                std::vector<GrownTree>& trees) {
  std::vector<Choice> choices;
  std::vector<SplitRule> rules;
  for (const Offer& offer : chosen) {
    choices.push_back(described(offer));
    rules.push_back(choices.back().rule);
  }
  std::vector<size_t> leaves;
  for (size_t n = 0, next = 0; n < level.size(); ++n) {
    if (next < chosen.size() && chosen[next].node == n) {
      ++next;
      continue;
    }
    leaves.push_back(n);
    trees[level[n].output].leaves.push_back(level[n].id);
  }
  const std::vector<NodeSums> sums = engine_.split(rules, leaves);
  std::vector<Node> next;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const Node& node = level[chosen[i].node];
    for (const Node& child : children_of(node, choices[i], {sums[2 * i], sums[2 * i + 1]})) next.push_back(child);
    write(choices[i], chosen[i], std::span(next).last(2), node.id, trees[node.output].tree);
  }
  route(choices, leaves);
  return next;
}

// Lines in place of trees: their roots become leaves.
void Grower::take_lines(std::span<const Node> level, std::vector<Offer>& chosen, std::vector<GrownTree>& trees) {
  std::erase_if(chosen, [&](const Offer& offer) {
    if (!offer.line) return false;
    const Node& root = level[offer.node];
    Tree& tree = trees[root.output].tree;
    tree.line[root.id] = narrow<std::int32_t>(offer.column);
    tree.gain[root.id] = offer.split.gain;
    return true;
  });
}

// The sign of each output in a sum of all gradients: that of its gradients along random signs of the rows, which
// follow from the rows' bins. So renamed classes get the same signs. The gradients of a row add up to 0: signs that are
// all alike, as even classes may have at the start, would leave nothing, and others are drawn. Empty: every output has
// a tree of its own.
std::vector<std::int8_t> Grower::direction(std::uint64_t number) {
  std::vector<std::int8_t> signs;
  if (trees_of(params_, engine_.outputs()) == engine_.outputs()) return signs;
  std::uint64_t drawn = mixed(mixed(params_.seed + kMixStep) + number * kMixStep);
  for (int probes = 0; probes < kMostProbes; ++probes, drawn = mixed(drawn + kMixStep)) {
    bool up = false, down = false;
    signs.clear();
    for (std::int64_t sum : engine_.probe(drawn)) {
      signs.push_back(narrow<std::int8_t>((sum > 0) - (sum < 0)));
      up |= sum > 0;
      down |= sum < 0;
    }
    // Gradients of classes add up to 0, so equal signs would leave nothing; those of several columns of y do not.
    if ((up && down) || engine_.table().targets > 1) break;
  }
  return signs;
}

void Grower::begin_trees(std::uint64_t number, const Drawn& drawn) {
  const std::vector<std::int8_t> signs = direction(number);
  worth_.begin_trees(drawn);
  some_rows_ = !drawn.rows.all();
  if (grows_trees()) {
    search_.begin_trees(signs, drawn.rows);
  } else {
    engine_.begin_trees(signs, drawn.rows);
  }
  if (lines_) lines_->begin_trees(drawn.rows);
}

void Grower::raise(std::vector<double>& root_gains, size_t roots) {
  for (size_t i = 0; i < roots && lines_; ++i) lines_->raise(i, root_gains);
  for (size_t i = 0; i < roots && grows_trees(); ++i)
    for (const Candidate& found : search_.candidates(i))
      root_gains[found.column] = std::max(root_gains[found.column], found.split.gain);
}

void Grower::look(std::vector<double>& root_gains) {
  std::vector<GrownTree> trees(trees_of(params_, engine_.outputs()));
  begin_trees(0, {});
  std::vector<Node> level = roots(trees);
  if (grows_trees()) search_.level(level, true, false, true);
  raise(root_gains, level.size());
}

std::vector<GrownTree> Grower::grow(std::uint64_t number, const Drawn& drawn, std::vector<double>* root_gains) {
  return params_.max_leaf_nodes > 0 ? grow_best_first(number, drawn, root_gains)
                                    : grow_level_by_level(number, drawn, root_gains);
}

std::vector<GrownTree> Grower::grow_level_by_level(std::uint64_t number, const Drawn& drawn,
                                                   std::vector<double>* root_gains) {
  std::vector<GrownTree> trees(trees_of(params_, engine_.outputs()));
  begin_trees(number, drawn);
  std::vector<Node> level = roots(trees);
  for (int depth = 0; !level.empty(); ++depth) {
    std::vector<Offer> chosen;
    if (depth < params_.max_depth) {
      const bool everything = depth == 0 && root_gains;
      if (grows_trees()) search_.level(level, depth == 0, depth + 1 < params_.max_depth, everything);
      if (everything) raise(*root_gains, level.size());
      chosen = choose(level);
      take_lines(level, chosen, trees);
    }
    level = split(level, chosen, trees);
  }
  return trees;
}

}  // namespace frugal
