#include "grow/grower.hpp"

#include <algorithm>
#include <tuple>

namespace frugal {

Grower::Grower(const BinnedMatrix& X, const Weights& weights, size_t outputs, const Params& params, Ledger& ledger,
               double mu)
    : X_(X),
      weights_(weights),
      params_(params),
      ledger_(ledger),
      mu_(mu),
      search_(X, weights, outputs, params, ledger, mu),
      partition_(X.rows(), outputs),
      leaves_(outputs) {}

Level Grower::roots(std::vector<Tree>& trees, AllGradients gradients) const {
  Level level;
  for (size_t k = 0; k < trees.size(); ++k) {
    OpenNode node;
    node.output = static_cast<int>(k);
    node.end = static_cast<Row>(X_.rows());
    node.gradient = gradients[k].total;
    node.weight = weights_.total;
    node.id = trees[k].add(scaled(static_cast<double>(node.weight), -weights_.shift));
    level.nodes.push_back(node);
    level.pairs.push_back({node, OpenNode{}, search_.can_split(node) ? node.output : -1, -1, node, {}, {}});
  }
  return level;
}

Grower::Offer Grower::best_offer(int node) const {
  Offer best{-kInfinity, 0.0, -1, node, false, {}};
  for (const Candidate& candidate : search_.candidates(node)) {
    const auto c = static_cast<size_t>(candidate.column);
    if (!ledger_.can_buy(c)) continue;
    const double price = ledger_.price(c), gain = candidate.split.gain;
    const double net = price > 0 ? gain - mu_ * price : gain;  // mu may be infinite
    const Offer offer{net, price, candidate.column, node, ledger_.owned(c), candidate.split};
    if (best.column < 0 || better(offer, best)) best = offer;
  }
  return best;
}

// Larger net gain first. Ties: what is owned, the lower price, column, threshold, node.
bool Grower::better(const Offer& a, const Offer& b) {
  if (a.net != b.net) return a.net > b.net;
  auto rest = [](const Offer& o) { return std::tuple(!o.owned, o.price, o.column, o.split.bin, o.node); };
  return rest(a) < rest(b);
}

// The same offer at two nodes.
bool Grower::equal(const Offer& a, const Offer& b) {
  auto all = [](const Offer& o) { return std::tuple(o.net, o.owned, o.price, o.column, o.split.bin); };
  return all(a) == all(b);
}

bool Grower::pays(const Offer& offer) const {
  return offer.column >= 0 && (params_.stop == Stop::never || offer.net > 0);
}

// Offers of the open nodes, best first; those of nodes that have none yet come last.
void Grower::rank(std::vector<Offer>& open) const {
  for (auto& offer : open) offer = best_offer(offer.node);
  std::sort(open.begin(), open.end(), better);
}

// Takes out the offers of other trees that are equal to the best one, one of each tree: they are made with it. If they
// had to wait until prices have changed, which class comes first would decide.
std::vector<Grower::Offer> Grower::take_equal(const Level& level, const Offer& made, std::vector<Offer>& open) {
  auto output_of = [&](const Offer& o) { return level.nodes[static_cast<size_t>(o.node)].output; };
  std::vector<int> outputs{output_of(made)};
  std::vector<Offer> taken;
  auto end = std::find_if_not(open.begin(), open.end(), [&](const Offer& o) { return equal(o, made); });
  auto kept = std::remove_if(open.begin(), end, [&](const Offer& o) {
    if (std::find(outputs.begin(), outputs.end(), output_of(o)) != outputs.end()) return false;
    outputs.push_back(output_of(o));
    taken.push_back(o);
    return true;
  });
  open.erase(kept, end);
  return taken;
}

// The splits of one level. The node with the best offer goes first; a purchase changes prices, so every node
// still open is then judged anew, always from raw gains.
std::vector<Grower::Offer> Grower::choose(const Level& level, Context& context) {
  std::vector<Offer> open(level.nodes.size()), chosen;
  for (size_t i = 0; i < open.size(); ++i) open[i].node = static_cast<int>(i);
  rank(open);
  size_t next = 0;
  while (next < open.size() && pays(open[next])) {
    const Offer made = open[next++];
    chosen.push_back(made);
    if (made.owned) continue;
    open.erase(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(next));
    for (const Offer& other : take_equal(level, made, open)) chosen.push_back(other);
    ledger_.buy(static_cast<size_t>(made.column), made.split.gain);
    std::vector<int> still_open;
    for (const Offer& offer : open) still_open.push_back(offer.node);
    search_.bought(static_cast<size_t>(made.column), still_open, context);
    rank(open);
    next = 0;
  }
  std::sort(chosen.begin(), chosen.end(), [](const Offer& a, const Offer& b) { return a.node < b.node; });
  return chosen;
}

// Which bins go left.
ChosenSplit Grower::described(const OpenNode& node, const Offer& offer) const {
  const ColumnSplit& best = offer.split;
  const auto column = static_cast<size_t>(offer.column);
  const auto bins = static_cast<size_t>(X_.value_bins(column));
  ChosenSplit split;
  split.node = node;
  split.column = offer.column;
  split.bin = best.bin;
  split.missing_bin = static_cast<int>(bins);
  split.missing_left = best.missing == MissingSide::left;
  split.listed = X_.categorical(column);
  if (split.listed) {
    const LevelGroups levels = search_.levels_of(node, column);
    for (size_t b = 0; b < bins; ++b) {
      split.no_rows[b] = levels.group_of_bin[b] < 0;
      split.goes_left[b] = split.no_rows[b] ? split.missing_left : levels.group_of_bin[b] <= split.bin;
    }
    if (bins < split.goes_left.size()) split.goes_left[bins] = split.missing_left;
  }
  return split;
}

std::vector<ChosenSplit> Grower::part(const Level& level, const std::vector<Offer>& chosen, Context& context) {
  std::vector<ChosenSplit> splits;
  for (const Offer& offer : chosen) splits.push_back(described(level.nodes[static_cast<size_t>(offer.node)], offer));
  const RowPartition::Bins bins = [&](const ChosenSplit& split, std::span<const Row> rows, std::uint8_t* out) {
    search_.gather(static_cast<size_t>(split.column), rows, out);
  };
  partition_.split(splits, bins, weights_, context);
  std::vector<int> nodes;
  for (const Offer& offer : chosen) nodes.push_back(offer.node);
  search_.split(splits, nodes, context);
  for (size_t i = 0; i < splits.size(); ++i) {
    if (chosen[i].split.missing != MissingSide::unseen) continue;
    splits[i].missing_left = splits[i].left.weight >= splits[i].right.weight;  // nothing learned: the heavier side
  }
  return splits;
}

void Grower::write(ChosenSplit& split, double gain, Tree& tree) const {
  const auto cuts = X_.thresholds().of(static_cast<size_t>(split.column));
  const auto bin = static_cast<size_t>(split.bin);
  const auto id = static_cast<size_t>(split.node.id);
  tree.feature[id] = split.column;
  tree.bin[id] = split.bin;
  if (X_.categorical(static_cast<size_t>(split.column))) {
    tree.level_set[id] =
        tree.add_set(cuts.size() + 1, [&](size_t b) {  // a level that no row of the node has: as missing values
          return split.no_rows[b] ? split.missing_left : split.goes_left[b];
        });
  } else {
    tree.threshold[id] = bin < cuts.size() ? cuts[bin] : kInfinity;  // beyond the last: all that is not missing
  }
  tree.missing_left[id] = split.missing_left;
  tree.gain[id] = gain;
  split.left.id = tree.add(scaled(static_cast<double>(split.left.weight), -weights_.shift));
  split.right.id = tree.add(scaled(static_cast<double>(split.right.weight), -weights_.shift));
  tree.left[id] = split.left.id;
}

Level Grower::children(const Level& level, const std::vector<Offer>& chosen,
                       const std::vector<ChosenSplit>& splits) const {
  std::vector<int> owned(level.nodes.size(), -1), all(level.nodes.size(), -1);
  for (const auto& pair : level.pairs) {
    auto keep = [&](int slot, int of_owned, int of_all) {
      if (slot < 0) return;
      owned[static_cast<size_t>(slot)] = of_owned;
      all[static_cast<size_t>(slot)] = of_all;
    };
    keep(pair.small_slot, pair.owned.small, pair.all.small);
    keep(pair.large_slot, pair.owned.large, pair.all.large);
  }
  Level next;
  for (size_t i = 0; i < splits.size(); ++i) {
    const ChosenSplit& split = splits[i];
    auto slot = [&](const OpenNode& node) {
      next.nodes.push_back(node);
      return search_.can_split(node) ? static_cast<int>(next.nodes.size()) - 1 : -1;
    };
    const int left = slot(split.left), right = slot(split.right);
    const bool left_small = split.left.rows() <= split.right.rows();
    Siblings pair = left_small ? Siblings{split.left, split.right, left, right, {}, {}, {}}
                               : Siblings{split.right, split.left, right, left, {}, {}, {}};
    const auto parent = static_cast<size_t>(chosen[i].node);
    pair.parent = level.nodes[parent];
    pair.owned.parent = owned[parent];
    pair.all.parent = all[parent];
    next.pairs.push_back(pair);
  }
  return next;
}

void Grower::raise(std::vector<double>& root_gains, size_t roots) const {
  for (size_t i = 0; i < roots; ++i)
    for (const Candidate& found : search_.candidates(static_cast<int>(i))) {
      double& most = root_gains[static_cast<size_t>(found.column)];
      most = std::max(most, found.split.gain);
    }
}

void Grower::look(AllGradients gradients, Context& context, std::vector<double>& root_gains) {
  std::vector<Tree> trees(gradients.size());
  partition_.reset(context);
  search_.begin_trees(partition_, gradients, context);
  Level level = roots(trees, gradients);
  search_.level(level, false, true, context);
  raise(root_gains, level.nodes.size());
}

std::vector<Tree> Grower::grow(AllGradients gradients, Context& context, std::vector<double>* root_gains) {
  std::vector<Tree> trees(gradients.size());
  for (auto& leaves : leaves_) leaves.clear();
  partition_.reset(context);
  search_.begin_trees(partition_, gradients, context);
  Level level = roots(trees, gradients);
  for (int depth = 0; !level.nodes.empty(); ++depth) {
    std::vector<Offer> chosen;
    if (depth < params_.max_depth) {
      const bool everything = depth == 0 && root_gains;
      search_.level(level, depth + 1 < params_.max_depth, everything, context);
      if (everything) raise(*root_gains, level.nodes.size());
      chosen = choose(level, context);
    }
    std::vector<ChosenSplit> splits = part(level, chosen, context);
    for (size_t i = 0, next = 0; i < level.nodes.size(); ++i) {
      const auto output = static_cast<size_t>(level.nodes[i].output);
      if (next < chosen.size() && chosen[next].node == static_cast<int>(i)) {
        write(splits[next], chosen[next].split.gain, trees[output]);
        ++next;
      } else {
        leaves_[output].push_back({level.nodes[i].id, level.nodes[i]});
      }
    }
    level = children(level, chosen, splits);
  }
  return trees;
}

}  // namespace frugal
