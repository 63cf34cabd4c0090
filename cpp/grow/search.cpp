#include "grow/search.hpp"

#include <algorithm>
#include <cmath>

#include "support/fixed_point.hpp"
#include "support/limits.hpp"
#include "support/mask.hpp"

namespace frugal {
namespace {

// With an infinite mu there is no limit to compare bounds with.
bool worth_screening(const TableFacts& table, Screening how, double mu) {
  const bool large = table.columns.size() >= kScreenColumns || index(table.rows) >= kScreenRows;
  return std::isfinite(mu) && (how == Screening::exact || (how == Screening::probable && large));
}

// Dense columns that have more than one bin, and sparse columns that are worth a search.
std::vector<size_t> candidates_for_offers(const TableFacts& table, std::span<const size_t> sparse) {
  std::vector<size_t> out(sparse.begin(), sparse.end());
  for (size_t c = 0; c < table.columns.size(); ++c)
    if (!table.columns[c].sparse && table.columns[c].cells() > 1) out.push_back(c);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<size_t> features_of(const std::vector<Purchase>& purchases) {
  std::vector<size_t> out;
  for (const Purchase& p : purchases) out.push_back(p.feature);
  return out;
}

// Columns are searched in groups of eight: if most groups have some left, a search of all columns is as fast.
bool most_bytes_used(std::span<const std::uint8_t> mask) {
  const size_t empty = index(std::count(mask.begin(), mask.end(), 0));
  return 4 * (mask.size() - empty) > 3 * mask.size();
}

}  // namespace

Search::Search(Engine& engine, const Params& params, const Worth& worth, Looks& looks, const DrawState& from,
               const Constraints& constraints, Context& context)
    : engine_(engine),
      worth_(worth),
      looks_(looks),
      ledger_(worth.ledger()),
      context_(context),
      min_weight_(scaled(params.min_samples_leaf, engine.table().weight_shift)),
      best_first_(params.max_leaf_nodes > 0),
      with_trends_(constraints.has_trends()),
      screening_(!best_first_ && worth_screening(engine.table(), params.screening, worth.mu())),
      draws_columns_(columns_to_draw(params.max_features, engine.table().columns.size()) <
                     engine.table().columns.size()),
      packed_(engine.table().columns.size()),
      often_(packed_.size(), real(engine.table().rows) * real(trees_of(params, engine.outputs()))),
      root_bounds_(packed_.size()),
      sparse_(engine, worth_, min_weight_),
      candidates_(candidates_for_offers(engine.table(), sparse_.worth_searching())),
      offered_(packed_.size(), params.new_features, params.seed, candidates_, from, features_of(ledger_.purchases())) {
  screening_by_sample_ = screening_ && params.screening == Screening::probable && !offered_.sampling() &&
                         !draws_columns_ && engine.can_rule_out();
  if (owned_apart()) newly_bought_ = features_of(ledger_.purchases());
}

// Columns that were bought, or are searched very often, join the pool of owned columns.
void Search::pack() {
  newly_bought_.insert(newly_bought_.end(), often_.costly().begin(), often_.costly().end());
  std::vector<size_t> more;
  for (size_t c : newly_bought_) {
    if (packed_[c]) continue;
    packed_[c] = 1;
    packed_sparse_ = packed_sparse_ || engine_.table().columns[c].sparse;
    more.push_back(c);
  }
  engine_.own(more);
  engine_.expect(often_.frequent());
  newly_bought_.clear();
}

void Search::begin_trees(std::span<const std::int8_t> signs, const RowDraw& rows) {
  const bool for_all = !signs.empty();
  some_rows_ = !rows.all();
  ++iterations_;
  sparse_.begin_trees(for_all ? 1 : engine_.outputs());
  if (owned_apart()) pack();
  often_.begin_trees();
  if (offered_.sampling()) offered_.begin_trees(ledger_.purchases().size());
  // Screening by a sample is given up if it rules out less than half of the columns it is asked about.
  if (iterations_ % kTrialTrees == 0 && 2 * left_ > asked_) screening_by_sample_ = false;
  engine_.expect_screening(screening_by_sample_);
  engine_.begin_trees(signs, rows);
  if (offers() && !offered_.all_at_root()) offer();
  if (screening_) root_bounds_.begin_trees(engine_, for_all, some_rows_);
}

void Search::offer() {
  std::vector<size_t> dense;
  offered_sparse_.clear();
  for (size_t c : offered_.sampling() ? offered_.draw(packed_) : candidates_)
    if (worth_.drawn(c) && !packed_[c]) (engine_.table().columns[c].sparse ? offered_sparse_ : dense).push_back(c);
  engine_.offer(dense);
}

// Splits that constraints forbid are no candidates: so they are no offers, and set no limit for others.
void Search::note(size_t node, size_t column, const ColumnSplit& split) {
  if (split.gain > 0 && nodes_[node].limits.allows(column)) found_[node].push_back({column, split});
}

// Returns the nodes that can be split.
std::vector<size_t> Search::begin_level(std::vector<Node>& nodes, std::span<const std::uint8_t> wanted) {
  Mask open(nodes.size());
  std::vector<size_t> numbers;
  for (size_t n = 0; n < nodes.size(); ++n) {
    open[n] = (wanted.empty() || wanted[n]) && can_split(nodes[n].sums);
    if (open[n]) numbers.push_back(n);
  }
  Mask asked = open;
  for (size_t n = 0; with_trends_ && n < nodes.size(); ++n)  // the range of a node depends on the sums of its sibling
    if (nodes[n].limits.order != 0 && (n ^ 1) < nodes.size()) asked[n] = open[n] || open[n ^ 1];
  const std::vector<NodeSums> sums = engine_.begin_level(asked, screening_);
  for (size_t n = 0; n < nodes.size(); ++n)
    if (asked[n]) nodes[n].sums = sums[n];
  if (with_trends_) confine_nodes(nodes, asked);
  std::vector<NodeLooks*> looks;
  for (size_t n : numbers) looks.push_back(&nodes[n].looks);
  looks_.weigh(numbers, looks);
  nodes_ = nodes;
  found_.assign(nodes.size(), {});
  complete_.assign(nodes.size(), 0);
  whole_first_.assign(nodes.size(), 0);
  return numbers;
}

// Siblings are side by side.
void Search::confine_nodes(std::vector<Node>& nodes, const Mask& asked) {
  for (size_t n = 0; n + 1 < nodes.size(); n += 2)
    if (asked[n]) confine(nodes[n].sums, nodes[n + 1].sums, nodes[n].limits, nodes[n + 1].limits);
  std::vector<ValueRange> ranges;
  for (const Node& node : nodes) ranges.push_back(node.limits.range);
  engine_.confine(ranges);
}

void Search::level(std::vector<Node>& nodes, bool at_root, bool deeper, bool everything,
                   std::span<const std::uint8_t> wanted) {
  at_root_ = at_root;
  const std::vector<size_t> open = begin_level(nodes, wanted);
  everything = everything || (at_root_ && offered_.all_at_root());
  sampled_ = offers() && !everything;
  if (owned_apart()) {
    std::vector<size_t> rest;
    for (size_t node : open) {
      whole_first_[node] = !everything && screening_is_hopeless(node);
      if (!whole_first_[node]) rest.push_back(node);
    }
    search_owned(rest, deeper);
    for (size_t column : newly_bought_) search_column(column, rest);
  }
  const bool kept = deeper && (sampled_ || !offers());  // else the next level searches other columns
  search_new(open, kept, everything || best_first_ || !owned_apart() ? Care::everything : Care::with_bounds);
  if (offered_.sampling() && everything) offer();
}

// Whether a node should be searched in all columns at once: if bounds will rule out few columns, a separate search of
// the owned ones is wasted.
bool Search::screening_is_hopeless(size_t node) const {
  const auto& columns = engine_.table().columns;
  const bool bought_sparse =
      std::any_of(newly_bought_.begin(), newly_bought_.end(), [&](size_t c) { return columns[c].sparse; });
  if (at_root_ || screening_by_sample_ || packed_sparse_ || bought_sparse || offers()) return false;
  return most_bytes_used(possible(node, false));  // with the lowest limits, since no gain of an owned column is known
}

void Search::search_owned(std::span<const size_t> nodes, bool deeper) {
  const auto columns = engine_.columns(Pool::owned);
  if (columns.empty()) return;
  Mask wanted(nodes_.size());
  for (size_t node : nodes) wanted[node] = 1;
  std::vector<ColumnSplit> splits(nodes_.size() * columns.size());
  engine_.search(Pool::owned, wanted, deeper, splits);
  for (size_t node : nodes)
    for (size_t p = 0; p < columns.size(); ++p) note(node, columns[p], splits[node * columns.size() + p]);
}

// One column at some nodes.
void Search::search_column(size_t column, std::span<const size_t> nodes) {
  if (nodes.empty()) return;
  const size_t place = engine_.table().columns[column].place;
  if (place != kNone) {
    std::vector<Piece> pieces;
    for (size_t node : nodes) pieces.push_back({node, place / kByteBits, bit_of(place)});
    engine_.search(Pool::all, pieces);
    for (const Piece& piece : pieces) note(piece.node, column, piece.splits[place % kByteBits]);
    return;
  }
  Mask wanted(nodes_.size());
  for (size_t node : nodes) wanted[node] = 1;
  std::vector<ColumnSplit> splits(nodes_.size());
  engine_.search_sparse({&column, 1}, wanted, splits);
  for (size_t node : nodes) note(node, column, splits[node]);
}

void Search::bought(size_t column, std::span<const size_t> open) {
  if (!owned_apart()) return;
  if (!packed_[column]) newly_bought_.push_back(column);
  std::vector<size_t> unknown, again;
  for (size_t node : open) {
    if (complete_[node]) continue;
    const auto& found = found_[node];
    if (!packed_[column] &&
        std::none_of(found.begin(), found.end(), [&](const Candidate& c) { return c.column == column; }))
      unknown.push_back(node);
    again.push_back(node);
  }
  search_column(column, unknown);
  if (!ledger_.some_price_fell() || again.empty()) return;
  for (size_t node : again) std::erase_if(found_[node], [&](const Candidate& c) { return is_new(c.column); });
  search_new(again, false, Care::again);
}

// The dense columns that the bounds do not rule out as the best offer of a node.
Search::Mask Search::possible(size_t node, bool everything) const {
  const auto columns = engine_.columns(new_pool());
  const TableFacts& table = engine_.table();
  Mask alive(mask_bytes(columns.size()));
  const Node& open = nodes_[node];
  const bool bounds = screening_ && !everything;
  const double least = least_gain(node);
  const double most =
      bounds ? most_gain(open.sums, engine_.tree_gradients(open.output), table.weight_shift) : kInfinity;
  for (size_t p = 0; p < columns.size(); ++p) {
    const size_t c = columns[p];
    if (!everything) {
      if (!is_new(c) || !open.limits.allows(c)) continue;
      const double limit = worth_.limit(open, c, least);
      if (!(most > limit) || (bounds && at_root_ && !(root_bounds_.bound(open.output, c) > limit))) continue;
    }
    set(alive, p);
  }
  return alive;
}

// Asks the engine to rule out columns.
void Search::rule_out(std::span<const size_t> nodes, bool again, std::vector<Mask>& alive) {
  const auto columns = engine_.columns(Pool::all);
  std::vector<ScreeningQuery> queries;
  for (size_t node : nodes) {
    Mask& mask = alive[node];
    if (count(mask) == 0) continue;
    ScreeningQuery query{node, kInfinity, kInfinity, again, {}, &mask};
    const double least = least_gain(node);
    for (size_t p = 0; p < columns.size(); ++p) {
      query.limits.push_back(worth_.limit(nodes_[node], columns[p], least));
      if (is_set(mask, p)) query.least = std::min(query.least, query.limits[p]);
      if (!ledger_.owned(columns[p])) query.lowest = std::min(query.lowest, query.limits[p]);
    }
    asked_ += count(mask);
    queries.push_back(std::move(query));
  }
  engine_.rule_out(queries);
  for (const ScreeningQuery& query : queries) left_ += count(*query.alive);
}

// Records the best split of a column at a node, where it is needed.
void Search::take(size_t node, size_t column, const ColumnSplit& split) {
  const bool categorical = engine_.table().columns[column].categorical;
  if (screening_ && at_root_ && !some_rows_)
    root_bounds_.record(nodes_[node].output, column, categorical ? split.reach : split.gain);
  if (offered_.sampling() && at_root_ && !sampled_) offered_.record(column, split.gain);
  if (!owned_apart() || is_new(column) || whole_first_[node]) note(node, column, split);
}

// Searches nodes in all columns if most of them are left, so that histograms can be kept for the children.
void Search::search_whole(std::span<const size_t> nodes, const Mask& whole, bool deeper) {
  const auto columns = engine_.columns(new_pool());
  std::vector<ColumnSplit> splits(nodes_.size() * columns.size());
  engine_.search(new_pool(), whole, deeper, splits);
  for (size_t node : nodes)
    for (size_t p = 0; p < columns.size() && whole[node]; ++p)
      take(node, columns[p], splits[node * columns.size() + p]);
}

// Searches the other nodes only in the columns that are left. Costs are not noted when columns are drawn at random,
// because a tree must not buy a column that was not drawn for it, so none may join the pool of owned columns.
void Search::search_some(std::span<const size_t> nodes, const std::vector<Mask>& alive, const Mask& whole) {
  const auto columns = engine_.columns(new_pool());
  std::vector<Piece> pieces;
  for (size_t byte = 0; byte < mask_bytes(columns.size()); ++byte)
    for (size_t node : nodes)
      if (!whole[node] && alive[node][byte]) pieces.push_back({node, byte, alive[node][byte]});
  if (pieces.empty()) return;
  engine_.search(new_pool(), pieces);
  for (const Piece& piece : pieces)
    for (size_t lane = 0; lane < kByteBits; ++lane) {
      if (!has_bit(piece.wanted, lane)) continue;
      const size_t column = columns[piece.byte * kByteBits + lane];
      take(piece.node, column, piece.splits[lane]);
      if (!offers()) often_.note(column, nodes_[piece.node].sums.rows);
    }
}

void Search::search_new(std::span<const size_t> nodes, bool deeper, Care care) {
  const bool everything = care == Care::everything;
  std::vector<Mask> alive(nodes_.size());
  for (size_t node : nodes) alive[node] = possible(node, everything);
  if (screening_by_sample_ && !everything) rule_out(nodes, care == Care::again, alive);
  Mask whole(nodes_.size());
  for (size_t node : nodes)
    whole[node] = everything || (care == Care::with_bounds && (whole_first_[node] || most_bytes_used(alive[node])));
  if (care != Care::again) search_whole(nodes, whole, deeper);
  search_some(nodes, alive, whole);
  search_sparse(nodes, everything);
  const bool all_sparse = everything || sparse_.worth_searching().empty();
  for (size_t node : nodes) complete_[node] = whole[node] && all_sparse;
}

void Search::search_sparse(std::span<const size_t> nodes, bool everything) {
  const std::vector<size_t>& columns = sampled_ ? offered_sparse_ : sparse_.worth_searching();
  if (columns.empty()) return;
  std::vector<double> least(nodes_.size());
  for (size_t node : nodes) least[node] = least_gain(node);
  const SparseColumns::Question question{
      columns, nodes_, nodes, least, at_root_ ? &root_bounds_ : nullptr, screening_ && !everything, !everything};
  const auto left = sparse_.left(question, [&](size_t c) { return is_new(c); }, sampled_, context_);
  if (left.columns.empty()) return;
  Mask wanted(nodes_.size());
  for (size_t node : left.nodes) wanted[node] = 1;
  std::vector<ColumnSplit> splits(left.columns.size() * nodes_.size());
  engine_.search_sparse(left.columns, wanted, splits);
  for (size_t i = 0; i < left.columns.size(); ++i)
    for (size_t node : left.nodes) take(node, left.columns[i], splits[i * nodes_.size() + node]);
}

}  // namespace frugal
