#include "grow/search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "support/limits.hpp"

namespace frugal {
namespace {

// Prices that are infinite beside any gain leave nothing to compare bounds with.
bool worth_screening(const BinnedMatrix& X, Screening how, double mu) {
  const bool large = X.columns() >= kScreenColumns || X.rows() >= kScreenRows;
  return std::isfinite(mu) && (how == Screening::exact || (how == Screening::probable && large));
}

}  // namespace

Search::Search(const BinnedMatrix& X, const Weights& weights, size_t outputs, const Params& params,
               const Ledger& ledger, double mu)
    : X_(X),
      weights_(weights),
      outputs_(outputs),
      params_(params),
      ledger_(ledger),
      mu_(mu),
      min_weight_(scaled(params.min_samples_leaf, weights.shift)),
      screening_(worth_screening(X, params.screening, mu)),
      rows_(weights),
      owned_(X),
      packed_(X.columns()),
      watched_(X.columns()),
      owned_search_(X, weights, min_weight_),
      flat_search_(X, weights, min_weight_),
      all_search_(X, weights, min_weight_),
      offered_search_(X, weights, min_weight_),
      sparse_search_(X, weights, min_weight_),
      offered_(X, params.new_features, params.seed, sparse_search_.worth_searching()),
      root_bounds_(X.columns(), weights) {
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
  w.cost *= std::pow(kWatchMemory, static_cast<double>(iterations_ - w.iteration));
  w.iteration = iterations_;
  w.cost += (1.0 - kWatchMemory) * static_cast<double>(rows) / static_cast<double>(X_.rows() * outputs_);
  if (w.cost > kWatchCost && !packed_[column]) costly_.push_back(column);
  if (w.cost > kFlatCost && owned_.flat_place(column) < 0) often_.push_back(column);
}

// Columns that were bought, or had to be searched often, are searched with the owned ones from now on.
void Search::pack(Context& context) {
  bool more = false;
  fresh_.insert(fresh_.end(), costly_.begin(), costly_.end());
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
  costly_.clear();
  often_.clear();
}

void Search::begin_trees(const RowPartition& partition, AllGradients gradients, Context& context) {
  partition_ = &partition;
  gradients_ = gradients;
  measured_ = false;
  ++iterations_;
  if (!apart()) return;
  pack(context);
  if (offered_.sampling()) offered_.begin_trees(ledger_.purchases().size());
  if (offered_.sampling() && !offered_.all_at_root()) draw(context);
  if (!screening_) return;
  root_bounds_.begin_trees(gradients, context);
  // A sample must earn its keep: on small nodes, or where little is enough, it rules nothing out.
  if (iterations_ % kTrialTrees == 0 && 2 * left_ > asked_) sampling_ = false;
  if (!sampling_) sample_.reset();
  if (sampling_ && !sample_)
    sample_ = std::make_unique<RowSample>(X_, outputs_, rows_to_sample(X_, gradients[0], params_.seed, context),
                                          kMissProbability, context);
  if (sample_) sample_->begin_trees(gradients, context);
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
  at_root_ = level.nodes[0].rows() == X_.rows();
  rows_.begin_level(*partition_, gradients_);
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
  owned_search_.search(level_->pairs, &Siblings::owned, wanted, deeper, rows_, gradients_, splits, context);
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
    all_search_.search_pieces(pieces, rows_, gradients_, context);
    for (size_t i = 0; i < nodes.size(); ++i) note(nodes[i], column, pieces[i].splits[place % kLanes]);
    return;
  }
  std::vector<const OpenNode*> wanted(level_->nodes.size(), nullptr);
  for (int node : nodes) wanted[static_cast<size_t>(node)] = &level_->nodes[static_cast<size_t>(node)];
  const std::array<size_t, 1> number{static_cast<size_t>(~X_.place(column))};
  std::vector<ColumnSplit> splits(level_->nodes.size());
  sparse_search_.search(number, wanted, *partition_, gradients_, splits, context);
  for (int node : nodes) note(node, column, splits[static_cast<size_t>(node)]);
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
  const std::int32_t* q = of(gradients_, node).q.data();
  std::vector<std::uint8_t> bins(node.rows());
  gather(column, {rows, node.rows()}, bins.data());
  for (size_t i = 0; i < node.rows(); ++i) {
    const std::int64_t unit = weights_.unit(rows[i]);
    cells[2 * size_t{bins[i]}] += unit * q[rows[i]];
    cells[2 * size_t{bins[i]} + 1] += unit;
  }
  return LevelGroups(cells.data(), X_.value_bins(column), min_weight_);
}

}  // namespace frugal
