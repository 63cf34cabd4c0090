// The search among columns that are not owned: which of them may be worth their price, and their splits.
#include <algorithm>
#include <bit>
#include <cmath>

#include "grow/search.hpp"
#include "support/limits.hpp"

namespace frugal {

double Search::bar(int node) const {
  double best = params_.stop == Stop::paid ? 0.0 : -kInfinity;
  for (const Candidate& c : found_[static_cast<size_t>(node)])
    if (ledger_.owned(static_cast<size_t>(c.column))) best = std::max(best, c.split.gain);
  return best;
}

double Search::enough(size_t column, double bar) const {
  if (!ledger_.can_buy(column)) return kInfinity;
  const double price = ledger_.price(column);
  return price > 0 ? bar + mu_ * price : bar;
}

// The dense columns that may be the best offer of a node, eight to a byte.
Search::Mask Search::possible(int node, bool everything) const {
  const size_t places = new_search().places();
  Mask alive((places + kLanes - 1) / kLanes);
  const OpenNode& open = level_->nodes[static_cast<size_t>(node)];
  const bool proofs = screening_ && !everything;
  const double least = bar(node), room = proofs ? room_of(open, of(gradients_, open), weights_) : kInfinity;
  for (size_t p = 0; p < places; ++p) {
    const size_t c = new_search().column(p);
    if (!everything) {
      if (!is_new(c)) continue;
      const double wanted = enough(c, least);
      if (!(room > wanted) || (proofs && at_root_ && !(root_bounds_.bound(open.output, c) > wanted))) continue;
    }
    alive[p / kLanes] |= static_cast<std::uint8_t>(1u << (p % kLanes));
  }
  return alive;
}

void Search::rule_out(std::span<const int> nodes, bool again, std::vector<Mask>& alive, Context& context) {
  std::vector<RowSample::Question> questions;
  for (int node : nodes) {
    Mask& mask = alive[static_cast<size_t>(node)];
    if (count(mask) == 0) continue;
    RowSample::Question q{node, &level_->nodes[static_cast<size_t>(node)], kInfinity, kInfinity, again, {}, &mask};
    const double least = bar(node);
    for (size_t p = 0; p < X_.dense(); ++p) {
      q.enough.push_back(enough(X_.dense_column(p), least));
      if ((mask[p / kLanes] >> (p % kLanes)) & 1) q.least = std::min(q.least, q.enough[p]);
      if (!ledger_.owned(X_.dense_column(p))) q.lowest = std::min(q.lowest, q.enough[p]);
    }
    asked_ += count(mask);
    questions.push_back(std::move(q));
  }
  sample_->rule_out(questions, gradients_, context);
  for (const auto& q : questions) left_ += count(*q.alive);
}

// The exact split of a column at a node.
void Search::take(int node, size_t column, const ColumnSplit& split) {
  const int output = level_->nodes[static_cast<size_t>(node)].output;
  if (screening_ && at_root_) root_bounds_.know(output, column, X_.categorical(column) ? split.reach : split.gain);
  if (offered_.sampling() && at_root_ && !sampled_) offered_.know(column, split.gain);
  if (!apart() || is_new(column) || first_whole_[static_cast<size_t>(node)]) note(node, column, split);
}

// Nodes in which most groups are left are searched as a whole, with histograms that their children can use.
void Search::search_whole(std::span<const int> nodes, const std::vector<std::uint8_t>& whole, bool deeper,
                          Context& context) {
  const size_t places = new_search().places();
  std::vector<ColumnSplit> splits(level_->nodes.size() * places);
  new_search().search(level_->pairs, &Siblings::all, whole, deeper, rows_, gradients_, splits, context);
  for (int node : nodes)
    for (size_t p = 0; p < places && whole[static_cast<size_t>(node)]; ++p)
      take(node, new_search().column(p), splits[static_cast<size_t>(node) * places + p]);
}

// In the others only the groups that have columns left.
void Search::search_some(std::span<const int> nodes, const std::vector<Mask>& alive,
                         const std::vector<std::uint8_t>& whole, Context& context) {
  GroupSearch& search = new_search();
  std::vector<GroupSearch::Piece> pieces, flat;
  std::vector<int> node_of, node_of_flat;
  for (size_t g = 0; g * kLanes < search.places(); ++g)
    for (int node : nodes) {
      if (whole[static_cast<size_t>(node)]) continue;
      const OpenNode* open = &level_->nodes[static_cast<size_t>(node)];
      std::uint8_t wanted = alive[static_cast<size_t>(node)][g];
      for (size_t p = g * kLanes; p < std::min(search.places(), (g + 1) * kLanes); ++p) {
        const std::int32_t place = owned_.flat_place(search.column(p));
        const auto bit = static_cast<std::uint8_t>(1u << (p % kLanes));
        if (!(wanted & bit) || place < 0) continue;
        wanted &= static_cast<std::uint8_t>(~bit);
        flat.push_back({open, static_cast<size_t>(place), 1, {}});
        node_of_flat.push_back(node);
      }
      if (wanted == 0) continue;
      pieces.push_back({open, g, wanted, {}});
      node_of.push_back(node);
    }
  search.search_pieces(pieces, rows_, gradients_, context);
  for (size_t i = 0; i < pieces.size(); ++i)
    for (size_t lane = 0; lane < kLanes; ++lane)
      if ((pieces[i].wanted >> lane) & 1) {
        const size_t c = search.column(pieces[i].group * kLanes + lane);
        take(node_of[i], c, pieces[i].splits[lane]);
        watch(c, pieces[i].node->rows());
      }
  flat_search_.search_pieces(flat, rows_, gradients_, context);
  for (size_t i = 0; i < flat.size(); ++i) {
    const size_t c = flat_search_.column(flat[i].group);
    take(node_of_flat[i], c, flat[i].splits[0]);
    watch(c, flat[i].node->rows());
  }
}

void Search::search_new(std::span<const int> nodes, bool deeper, Way way, Context& context) {
  const bool everything = way == Way::everything;
  std::vector<Mask> alive(level_->nodes.size());
  for (int node : nodes) alive[static_cast<size_t>(node)] = possible(node, everything);
  if (sample_ && !everything) rule_out(nodes, way == Way::again, alive, context);
  std::vector<std::uint8_t> whole(level_->nodes.size());
  for (int node : nodes) {
    const Mask& mask = alive[static_cast<size_t>(node)];
    whole[static_cast<size_t>(node)] =
        everything || (way == Way::with_proofs && (first_whole_[static_cast<size_t>(node)] || most_groups(mask)));
  }
  if (way != Way::again) search_whole(nodes, whole, deeper, context);
  search_some(nodes, alive, whole, context);
  search_new_sparse(nodes, everything, context);
  const bool all_sparse = everything || sparse_search_.worth_searching().empty();
  for (int node : nodes) complete_[static_cast<size_t>(node)] = whole[static_cast<size_t>(node)] && all_sparse;
}

// One side of a split on a sparse column has none but listed rows, so that it can't gain more than those could alone.
bool Search::listed_may_pay(size_t number, double price, std::span<const Demand> demands) const {
  for (const Demand& d : demands) {
    const SparseSearch::Listed& listed = sparse_search_.listed(d.output, number);
    const double length = std::sqrt(listed.squares), root = std::sqrt(listed.weight);
    const double most = (length + root * d.mean) * kSafe;
    const double rest = std::max(d.weight - listed.weight, d.least_weight);
    if (0.5 * most * most * (d.weight / rest) * kSafe > d.bar + price) return true;
  }
  return false;
}

// What the column gained at earlier roots, and how far gradients have moved since.
bool Search::root_may_pay(size_t number, double price, std::span<const Demand> demands) const {
  const size_t column = X_.sparse_column(number);
  return std::any_of(demands.begin(), demands.end(),
                     [&](const Demand& d) { return root_bounds_.bound(d.output, column) > d.bar + price; });
}

// The nodes that have room for a new column at all, by what it would have to gain there.
std::vector<Search::Demand> Search::demands(std::span<const int> nodes, bool proofs, double cheapest) const {
  std::vector<Demand> out;
  const double least = scaled(min_weight_, -weights_.shift);
  for (int node : nodes) {
    const OpenNode& open = level_->nodes[static_cast<size_t>(node)];
    const double own = bar(node), mean = static_cast<double>(open.gradient) / static_cast<double>(open.weight);
    if (proofs && !(room_of(open, of(gradients_, open), weights_) > own + cheapest)) continue;
    out.push_back({node, open.output, own, scaled(static_cast<double>(open.weight), -weights_.shift),
                   std::abs(scaled(mean, -of(gradients_, open).shift)), least});
  }
  return out;
}

// What sparse columns that are not owned cost, until somebody buys something or others are offered.
void Search::price_sparse(std::span<const size_t> numbers) {
  const size_t bought = ledger_.purchases().size();
  if (priced_at_ == std::pair(bought, sampled_ ? iterations_ : 0)) return;
  priced_at_ = {bought, sampled_ ? iterations_ : 0};
  sparse_prices_.clear();
  cheapest_sparse_ = kInfinity;
  for (size_t s : numbers) {
    const size_t c = X_.sparse_column(s);
    const double price = is_new(c) ? enough(c, 0.0) : kInfinity;
    if (!(price < kInfinity)) continue;
    cheapest_sparse_ = std::min(cheapest_sparse_, price);
    sparse_prices_.emplace_back(s, price);
  }
}

// Those of them that no proof rules out.
std::vector<size_t> Search::sparse_left(std::span<const Demand> open, bool proofs, Context& context) const {
  const size_t count = sparse_prices_.size();
  std::vector<std::uint8_t> alive(count);
  context.over_blocks(
      count, 256, at_root_ ? 4.0 : 6.0 * static_cast<double>(open.size()), [&](size_t begin, size_t end, size_t) {
        for (size_t i = begin; i < end; ++i) {
          const auto& [s, price] = sparse_prices_[i];
          alive[i] = !proofs || (at_root_ ? root_may_pay(s, price, open) : listed_may_pay(s, price, open));
        }
      });
  std::vector<size_t> columns;
  for (size_t i = 0; i < count; ++i)
    if (alive[i]) columns.push_back(sparse_prices_[i].first);
  return columns;
}

void Search::search_new_sparse(std::span<const int> nodes, bool everything, Context& context) {
  const std::span<const size_t> numbers = sampled_ ? offered_.sparse() : sparse_search_.worth_searching();
  if (numbers.empty()) return;
  const bool proofs = screening_ && !everything;
  if (!everything) price_sparse(numbers);
  const std::vector<Demand> open = demands(nodes, proofs, everything ? -kInfinity : cheapest_sparse_);
  if (open.empty()) return;
  if (proofs && !at_root_ && !measured_) {
    sparse_search_.measure(numbers, gradients_, context);
    measured_ = true;
  }
  const auto columns =
      everything ? std::vector<size_t>(numbers.begin(), numbers.end()) : sparse_left(open, proofs, context);
  if (columns.empty()) return;
  const size_t slots = level_->nodes.size();
  std::vector<const OpenNode*> wanted(slots, nullptr);
  for (const Demand& d : open) wanted[static_cast<size_t>(d.node)] = &level_->nodes[static_cast<size_t>(d.node)];
  std::vector<ColumnSplit> splits(columns.size() * slots);
  sparse_search_.search(columns, wanted, *partition_, gradients_, splits, context);
  for (size_t i = 0; i < columns.size(); ++i)
    for (const Demand& d : open)
      take(d.node, X_.sparse_column(columns[i]), splits[i * slots + static_cast<size_t>(d.node)]);
}

}  // namespace frugal
