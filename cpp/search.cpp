#include "search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "limits.hpp"

namespace frugal {
namespace {

// Prices that are infinite beside any gain leave nothing to compare bounds with.
bool worth_screening(const BinnedMatrix& X, Screening how, double mu) {
  const bool large = X.columns() >= kScreenColumns || X.rows() >= kScreenRows;
  return std::isfinite(mu) && (how == Screening::exact || (how == Screening::probable && large));
}

}  // namespace

Search::Search(const BinnedMatrix& X, const Weights& weights, const Params& params, const Ledger& ledger, double mu)
    : X_(X),
      weights_(weights),
      params_(params),
      ledger_(ledger),
      mu_(mu),
      min_weight_(scaled(params.min_samples_leaf, weights.shift)),
      screening_(worth_screening(X, params.screening, mu)),
      rows_(weights),
      owned_(X),
      owned_search_(X, weights, min_weight_),
      flat_search_(X, weights, min_weight_),
      all_search_(X, weights, min_weight_),
      offered_search_(X, weights, min_weight_),
      sparse_search_(X, weights, min_weight_),
      offered_(X, params.new_features, params.seed, sparse_search_.worth_searching()),
      root_bounds_(X.columns(), weights),
      packed_(X.columns()),
      watched_(X.columns()) {
  all_search_.use(X.lanes());
  owned_search_.use(owned_.lanes());
  flat_search_.use(owned_.flats());
  if (!apart()) return;
  for (const Purchase& p : ledger.purchases()) fresh_.push_back(static_cast<size_t>(p.feature));
  sampling_ = screening_ && params.screening == Screening::probable && !offered_.sampling() && weights.uniform() &&
              X.dense() > 0 && X.rows() >= kSampleLeastRows;
}

bool Search::most_groups(const Mask& mask) {
  const size_t left = mask.size() - static_cast<size_t>(std::count(mask.begin(), mask.end(), 0));
  return 4 * left > 3 * mask.size();
}

size_t Search::count(const Mask& mask) {
  size_t bits = 0;
  for (std::uint8_t m : mask) bits += static_cast<size_t>(std::popcount(m));
  return bits;
}

// A column that had to be searched: what it costs lately, in tables a tree.
void Search::watch(size_t column, size_t rows) {
  if (offered_.sampling()) return;  // a tree must not buy what was not drawn for it
  Watched& w = watched_[column];
  w.cost *= std::pow(kWatchMemory, static_cast<double>(trees_ - w.tree));
  w.tree = trees_;
  w.cost += (1.0 - kWatchMemory) * static_cast<double>(rows) / static_cast<double>(X_.rows());
  if (w.cost > kWatchCost && !packed_[column]) fresh_.push_back(column);
  if (w.cost > kFlatCost && owned_.flat_place(column) < 0) often_.push_back(column);
}

// Columns that were bought, or had to be searched often, are searched with the owned ones from now on.
void Search::pack(Context& context) {
  bool more = false;
  for (size_t c : fresh_) {
    if (packed_[c]) continue;
    packed_[c] = 1;
    packed_sparse_ = packed_sparse_ || X_.place(c) < 0;
    owned_.add(c, context);
    more = true;
  }
  for (size_t c : often_)
    if (owned_.flats().places() < std::max(kFlatColumns, X_.columns() / 8)) owned_.flatten(c, context);
  if (more) owned_search_.use(owned_.lanes());
  if (flat_search_.places() < owned_.flats().places()) flat_search_.use(owned_.flats());
  fresh_.clear();
  often_.clear();
}

void Search::begin_tree(int output, const RowPartition& partition, const GridGradients& gradients, Context& context) {
  partition_ = &partition;
  gradients_ = &gradients;
  measured_ = false;
  ++trees_;
  if (!apart()) return;
  pack(context);
  if (offered_.sampling()) offered_.begin_tree(ledger_.purchases().size());
  if (offered_.sampling() && !offered_.all_at_root()) draw(context);
  if (!screening_) return;
  root_bounds_.begin_tree(output, gradients, context);
  // A sample must earn its keep: on small nodes, or where little is enough, it rules nothing out.
  if (trees_ % kTrialTrees == 0 && 2 * left_ > asked_) sampling_ = false;
  if (!sampling_) sample_.reset();
  if (sampling_ && !sample_) sample_ = std::make_unique<RowSample>(X_, kMissProbability, context);
  if (sample_) sample_->begin_tree(gradients, context);
}

void Search::draw(Context& context) {
  offered_.draw(packed_, context);
  offered_search_.use(offered_.lanes());
}

// Sums of all nodes that may be split: the smaller sibling's from its rows, the larger one's from the rest.
void Search::set_sums(Level& level, Context& context) {
  for (auto& pair : level.pairs) {
    if (pair.small_slot < 0 && pair.large_slot < 0) continue;
    if (pair.large.rows() > 0) {
      pair.small.gradient = rows_.gradient(pair.small, context);
      pair.large.gradient = pair.parent.gradient - pair.small.gradient;
    }
    if (screening_) {
      pair.small.squares = rows_.squares(pair.small, context);
      pair.large.squares = pair.parent.squares - pair.small.squares;
    }
    if (pair.small_slot >= 0) level.nodes[static_cast<size_t>(pair.small_slot)] = pair.small;
    if (pair.large_slot >= 0) level.nodes[static_cast<size_t>(pair.large_slot)] = pair.large;
  }
}

void Search::note(int node, size_t column, const ColumnSplit& split) {
  if (split.gain > 0) found_[static_cast<size_t>(node)].push_back({static_cast<int>(column), split});
}

void Search::level(Level& level, bool deeper, bool everything, Context& context) {
  level_ = &level;
  at_root_ = level.nodes.size() == 1 && level.nodes[0].rows() == X_.rows();
  rows_.begin_level(*partition_, *gradients_);
  found_.assign(level.nodes.size(), {});
  complete_.assign(level.nodes.size(), 0);
  std::vector<int> open;
  for (const auto& pair : level.pairs)
    for (int slot : {pair.small_slot, pair.large_slot})
      if (slot >= 0) open.push_back(slot);
  std::sort(open.begin(), open.end());
  first_whole_.assign(level.nodes.size(), 0);
  set_sums(level, context);
  everything = everything || (at_root_ && offered_.all_at_root());
  sampled_ = offered_.sampling() && !everything;
  if (apart()) {
    std::vector<int> rest;
    for (int node : open) {
      first_whole_[static_cast<size_t>(node)] = !everything && better_whole(node);
      if (!first_whole_[static_cast<size_t>(node)]) rest.push_back(node);
    }
    search_owned(rest, deeper, context);
    for (size_t column : fresh_) search_column(column, rest, context);
  }
  const bool kept = deeper && (sampled_ || !offered_.sampling());  // the next level may look at other columns
  search_new(open, kept, everything || !apart() ? Way::everything : Way::with_proofs, context);
  if (offered_.sampling() && everything) draw(context);
}

// Whether a node is searched as a whole at once: where no proof will help, to search what is owned by itself is in
// vain.
bool Search::better_whole(int node) const {
  const bool fresh_sparse = std::any_of(fresh_.begin(), fresh_.end(), [&](size_t c) { return X_.place(c) < 0; });
  if (at_root_ || sample_ || packed_sparse_ || fresh_sparse || offered_.sampling()) return false;
  const Mask mask = possible(node, false);  // nothing is known of what is owned: any gain would do
  return most_groups(mask);
}

void Search::search_owned(std::span<const int> nodes, bool deeper, Context& context) {
  const size_t places = owned_search_.places(), slots = level_->nodes.size();
  if (places == 0) return;
  std::vector<std::uint8_t> wanted(slots);
  for (int node : nodes) wanted[static_cast<size_t>(node)] = 1;
  std::vector<ColumnSplit> splits(slots * places);
  owned_search_.search(level_->pairs, &Siblings::owned, wanted, deeper, rows_, *gradients_, splits, context);
  for (int node : nodes)
    for (size_t p = 0; p < places; ++p)
      note(node, owned_search_.column(p), splits[static_cast<size_t>(node) * places + p]);
}

// One column in some nodes.
void Search::search_column(size_t column, std::span<const int> nodes, Context& context) {
  if (X_.place(column) >= 0) {
    const auto place = static_cast<size_t>(X_.place(column));
    std::vector<GroupSearch::Piece> pieces;
    const auto wanted = static_cast<std::uint8_t>(1u << (place % kLanes));
    for (int node : nodes) pieces.push_back({&level_->nodes[static_cast<size_t>(node)], place / kLanes, wanted, {}});
    all_search_.search_pieces(pieces, rows_, *gradients_, context);
    for (size_t i = 0; i < nodes.size(); ++i) note(nodes[i], column, pieces[i].splits[place % kLanes]);
    return;
  }
  std::vector<const OpenNode*> wanted(level_->nodes.size(), nullptr);
  for (int node : nodes) wanted[static_cast<size_t>(node)] = &level_->nodes[static_cast<size_t>(node)];
  const std::array<size_t, 1> number{static_cast<size_t>(~X_.place(column))};
  std::vector<ColumnSplit> splits(level_->nodes.size());
  sparse_search_.search(number, wanted, *partition_, *gradients_, splits, context);
  for (int node : nodes) note(node, column, splits[static_cast<size_t>(node)]);
}

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
  const double least = bar(node), room = proofs ? room_of(open, *gradients_, weights_) : kInfinity;
  for (size_t p = 0; p < places; ++p) {
    const size_t c = new_search().column(p);
    if (!everything) {
      if (!is_new(c)) continue;
      const double wanted = enough(c, least);
      if (!(room > wanted) || (proofs && at_root_ && !(root_bounds_.bound(c) > wanted))) continue;
    }
    alive[p / kLanes] |= static_cast<std::uint8_t>(1u << (p % kLanes));
  }
  return alive;
}

void Search::rule_out(std::span<const int> nodes, std::vector<Mask>& alive, Context& context) {
  std::vector<RowSample::Question> questions;
  for (int node : nodes) {
    Mask& mask = alive[static_cast<size_t>(node)];
    if (count(mask) == 0) continue;
    RowSample::Question q{node, &level_->nodes[static_cast<size_t>(node)], kInfinity, {}, &mask};
    const double least = bar(node);
    for (size_t p = 0; p < X_.dense(); ++p) {
      q.enough.push_back(enough(X_.dense_column(p), least));
      if ((mask[p / kLanes] >> (p % kLanes)) & 1) q.least = std::min(q.least, q.enough[p]);
    }
    asked_ += count(mask);
    questions.push_back(std::move(q));
  }
  sample_->rule_out(questions, *gradients_, context);
  for (const auto& q : questions) left_ += count(*q.alive);
}

// The exact split of a column at a node.
void Search::take(int node, size_t column, const ColumnSplit& split) {
  if (screening_ && at_root_) root_bounds_.know(column, split.gain);
  if (offered_.sampling() && at_root_ && !sampled_) offered_.know(column, split.gain);
  if (!apart() || is_new(column) || first_whole_[static_cast<size_t>(node)]) note(node, column, split);
}

// Nodes in which most groups are left are searched as a whole, with histograms that their children can use.
void Search::search_whole(std::span<const int> nodes, const std::vector<std::uint8_t>& whole, bool deeper,
                          Context& context) {
  const size_t places = new_search().places();
  std::vector<ColumnSplit> splits(level_->nodes.size() * places);
  new_search().search(level_->pairs, &Siblings::all, whole, deeper, rows_, *gradients_, splits, context);
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
  search.search_pieces(pieces, rows_, *gradients_, context);
  for (size_t i = 0; i < pieces.size(); ++i)
    for (size_t lane = 0; lane < kLanes; ++lane)
      if ((pieces[i].wanted >> lane) & 1) {
        const size_t c = search.column(pieces[i].group * kLanes + lane);
        take(node_of[i], c, pieces[i].splits[lane]);
        watch(c, pieces[i].node->rows());
      }
  flat_search_.search_pieces(flat, rows_, *gradients_, context);
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
  if (sample_ && !everything) rule_out(nodes, alive, context);
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
  const SparseSearch::Listed& listed = sparse_search_.listed(number);
  const double length = std::sqrt(listed.squares), root = std::sqrt(listed.weight);
  for (const Demand& d : demands) {
    const double most = (length + root * d.mean) * kSafe;
    const double rest = std::max(d.weight - listed.weight, d.least_weight);
    if (0.5 * most * most * (d.weight / rest) * kSafe > d.bar + price) return true;
  }
  return false;
}

// The nodes that have room for a new column at all, by what it would have to gain there.
std::vector<Search::Demand> Search::demands(std::span<const int> nodes, bool proofs, double cheapest) const {
  std::vector<Demand> out;
  const double least = scaled(min_weight_, -weights_.shift);
  for (int node : nodes) {
    const OpenNode& open = level_->nodes[static_cast<size_t>(node)];
    const double own = bar(node), mean = static_cast<double>(open.gradient) / static_cast<double>(open.weight);
    if (proofs && !(room_of(open, *gradients_, weights_) > own + cheapest)) continue;
    out.push_back({node, own, scaled(static_cast<double>(open.weight), -weights_.shift),
                   std::abs(scaled(mean, -gradients_->shift)), least});
  }
  return out;
}

// What sparse columns that are not owned cost, until somebody buys something or others are offered.
void Search::price_sparse(std::span<const size_t> numbers) {
  const size_t bought = ledger_.purchases().size();
  if (priced_at_ == std::pair(bought, sampled_ ? trees_ : 0)) return;
  priced_at_ = {bought, sampled_ ? trees_ : 0};
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
          alive[i] = !proofs || (at_root_ ? root_bounds_.bound(X_.sparse_column(s)) > open[0].bar + price
                                          : listed_may_pay(s, price, open));
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
    sparse_search_.measure(numbers, *gradients_, context);
    measured_ = true;
  }
  const auto columns =
      everything ? std::vector<size_t>(numbers.begin(), numbers.end()) : sparse_left(open, proofs, context);
  if (columns.empty()) return;
  const size_t slots = level_->nodes.size();
  std::vector<const OpenNode*> wanted(slots, nullptr);
  for (const Demand& d : open) wanted[static_cast<size_t>(d.node)] = &level_->nodes[static_cast<size_t>(d.node)];
  std::vector<ColumnSplit> splits(columns.size() * slots);
  sparse_search_.search(columns, wanted, *partition_, *gradients_, splits, context);
  for (size_t i = 0; i < columns.size(); ++i)
    for (const Demand& d : open)
      take(d.node, X_.sparse_column(columns[i]), splits[i * slots + static_cast<size_t>(d.node)]);
}

void Search::bought(size_t column, std::span<const int> open, Context& context) {
  if (!apart()) return;
  if (!packed_[column]) fresh_.push_back(column);
  std::vector<int> unknown, again;
  for (int node : open) {
    if (complete_[static_cast<size_t>(node)]) continue;
    auto& found = found_[static_cast<size_t>(node)];
    const auto own = static_cast<int>(column);
    if (!packed_[column] &&
        std::none_of(found.begin(), found.end(), [&](const Candidate& c) { return c.column == own; }))
      unknown.push_back(node);
    again.push_back(node);
  }
  if (!unknown.empty()) search_column(column, unknown, context);
  if (!ledger_.something_fell() || again.empty()) return;
  for (int node : again)
    std::erase_if(found_[static_cast<size_t>(node)],
                  [&](const Candidate& c) { return is_new(static_cast<size_t>(c.column)); });
  search_new(again, false, Way::again, context);
}

void Search::split(std::span<const ChosenSplit> splits, std::span<const int> nodes, Context& context) {
  if (sample_) sample_->split(splits, nodes, context);
}

void Search::gather(size_t column, std::span<const Row> rows, std::uint8_t* out) const {
  if (owned_.flat_place(column) >= 0) {
    const std::uint8_t* bins = owned_.flats().groups[static_cast<size_t>(owned_.flat_place(column))];
    if (!rows.empty() && rows.back() - rows.front() + 1 == rows.size()) {
      std::copy_n(bins + rows.front(), rows.size(), out);
    } else {
      for (size_t i = 0; i < rows.size(); ++i) out[i] = bins[rows[i]];
    }
  } else {
    X_.gather(column, rows, out);
  }
}

LevelGroups Search::levels_of(const OpenNode& node, size_t column) const {
  std::array<std::int64_t, 2 * kMostBins> cells{};
  const Row* rows = partition_->rows(node);
  std::vector<std::uint8_t> bins(node.rows());
  gather(column, {rows, node.rows()}, bins.data());
  for (size_t i = 0; i < node.rows(); ++i) {
    const std::int64_t unit = weights_.unit(rows[i]);
    cells[2 * size_t{bins[i]}] += unit * gradients_->q[rows[i]];
    cells[2 * size_t{bins[i]} + 1] += unit;
  }
  return LevelGroups(cells.data(), X_.value_bins(column), min_weight_);
}

}  // namespace frugal
