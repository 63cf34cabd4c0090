#include "grower.hpp"

#include <algorithm>
#include <tuple>

namespace frugal {

Grower::Grower(const BinnedMatrix& X, const Weights& weights, const Params& params, Ledger& ledger, double mu)
    : X_(X),
      weights_(weights),
      params_(params),
      ledger_(ledger),
      mu_(mu),
      search_(X, weights, params.min_samples_leaf),
      partition_(X.rows()) {}

Grower::Level Grower::root(Tree& tree, const GridGradients& gradients) const {
  OpenNode node;
  node.end = static_cast<Row>(X_.rows());
  node.gradient = gradients.total;
  node.weight = weights_.total;
  node.id = tree.add(scaled(static_cast<double>(node.weight), -weights_.shift));
  Siblings alone{node, OpenNode{}, search_.can_split(node) ? 0 : -1, -1};
  return {{node}, {alone}};
}

Grower::Offer Grower::best_offer(int node) const {
  Offer best{-kInfinity, 0.0, -1, node, false};
  const ColumnSplit* splits = splits_.data() + static_cast<size_t>(node) * X_.columns();
  for (size_t c = 0; c < X_.columns(); ++c) {
    if (!(splits[c].gain > 0) || !ledger_.can_buy(c)) continue;
    const double price = ledger_.price(c);
    const double net = price > 0 ? splits[c].gain - mu_ * price : splits[c].gain;  // mu may be infinite
    const Offer offer{net, price, static_cast<int>(c), node, ledger_.owned(c)};
    if (best.column < 0 || better(offer, best)) best = offer;
  }
  return best;
}

// Larger net gain first. Ties: what is owned, the lower price, column, threshold, node.
bool Grower::better(const Offer& a, const Offer& b) const {
  if (a.net != b.net) return a.net > b.net;
  auto rest = [&](const Offer& o) {
    return std::tuple(!o.owned, o.price, o.column, split_of(o.node, o.column).bin, o.node);
  };
  return rest(a) < rest(b);
}

bool Grower::pays(const Offer& offer) const {
  return offer.column >= 0 && (params_.stop == Stop::never || offer.net > 0);
}

// Offers of the open nodes, best first; nodes that can't be split are left out.
void Grower::rank(std::vector<Offer>& open) const {
  for (auto& offer : open) offer = best_offer(offer.node);
  std::erase_if(open, [](const Offer& o) { return o.column < 0; });
  std::sort(open.begin(), open.end(), [&](const Offer& a, const Offer& b) { return better(a, b); });
}

// The splits of one level. The node with the best offer goes first; a purchase changes prices, so every node
// still open is then judged anew, always from raw gains.
std::vector<Grower::Offer> Grower::choose(size_t nodes) {
  std::vector<Offer> open(nodes), chosen;
  for (size_t i = 0; i < nodes; ++i) open[i].node = static_cast<int>(i);
  rank(open);
  size_t next = 0;
  while (next < open.size() && pays(open[next])) {
    const Offer made = open[next++];
    chosen.push_back(made);
    if (made.owned) continue;
    ledger_.buy(static_cast<size_t>(made.column), split_of(made.node, made.column).gain);
    open.erase(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(next));
    rank(open);
    next = 0;
  }
  std::sort(chosen.begin(), chosen.end(), [](const Offer& a, const Offer& b) { return a.node < b.node; });
  return chosen;
}

// Which bins go left.
ChosenSplit Grower::described(const OpenNode& node, const Offer& offer, const GridGradients& gradients) const {
  const ColumnSplit& best = split_of(offer.node, offer.column);
  const auto column = static_cast<size_t>(offer.column);
  ChosenSplit split{node, offer.column, best.bin, best.missing == MissingSide::left, {}, {}, {}, {}};
  const auto bins = static_cast<size_t>(X_.value_bins(column));
  if (X_.categorical(column)) {
    const LevelGroups levels = search_.levels_of(node, column, partition_, gradients);
    for (size_t b = 0; b < bins; ++b) {
      split.no_rows[b] = levels.group_of_bin[b] < 0;
      split.goes_left[b] = split.no_rows[b] ? split.missing_left : levels.group_of_bin[b] <= split.bin;
    }
  } else {
    for (size_t b = 0; b < bins; ++b) split.goes_left[b] = static_cast<int>(b) <= split.bin;
  }
  if (bins < split.goes_left.size()) split.goes_left[bins] = split.missing_left;
  return split;
}

std::vector<ChosenSplit> Grower::part(const Level& level, const std::vector<Offer>& chosen,
                                      const GridGradients& gradients, Context& context) {
  std::vector<ChosenSplit> splits;
  for (const Offer& offer : chosen)
    splits.push_back(described(level.nodes[static_cast<size_t>(offer.node)], offer, gradients));
  partition_.split(splits, X_, gradients, weights_, context);
  for (size_t i = 0; i < splits.size(); ++i) {
    if (split_of(chosen[i].node, chosen[i].column).missing != MissingSide::unseen) continue;
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

Grower::Level Grower::children(const Level& level, const std::vector<Offer>& chosen,
                               const std::vector<ChosenSplit>& splits) const {
  std::vector<int> histogram(level.nodes.size(), -1);
  for (const auto& pair : level.pairs) {
    if (pair.small_slot >= 0) histogram[static_cast<size_t>(pair.small_slot)] = pair.small_histogram;
    if (pair.large_slot >= 0) histogram[static_cast<size_t>(pair.large_slot)] = pair.large_histogram;
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
    Siblings pair =
        left_small ? Siblings{split.left, split.right, left, right} : Siblings{split.right, split.left, right, left};
    pair.parent_histogram = histogram[static_cast<size_t>(chosen[i].node)];
    next.pairs.push_back(pair);
  }
  return next;
}

Tree Grower::grow(const GridGradients& gradients, Context& context, std::vector<ColumnSplit>* root_splits) {
  Tree tree;
  leaves_.clear();
  partition_.reset(context);
  Level level = root(tree, gradients);
  for (int depth = 0; !level.nodes.empty(); ++depth) {
    std::vector<Offer> chosen;
    if (depth < params_.max_depth) {
      splits_.assign(level.nodes.size() * X_.columns(), ColumnSplit{});
      search_.search(level.pairs, depth + 1 < params_.max_depth, partition_, gradients, splits_, context);
      if (depth == 0 && root_splits) *root_splits = splits_;
      chosen = choose(level.nodes.size());
    }
    std::vector<ChosenSplit> splits = part(level, chosen, gradients, context);
    for (size_t i = 0, next = 0; i < level.nodes.size(); ++i) {
      if (next < chosen.size() && chosen[next].node == static_cast<int>(i)) {
        write(splits[next], split_of(chosen[next].node, chosen[next].column).gain, tree);
        ++next;
      } else {
        leaves_.push_back({level.nodes[i].id, level.nodes[i]});
      }
    }
    level = children(level, chosen, splits);
  }
  return tree;
}

}  // namespace frugal
