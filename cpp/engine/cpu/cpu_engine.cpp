#include "engine/cpu/cpu_engine.hpp"

#include <algorithm>

#include "data/row_keys.hpp"
#include "engine/cpu/leaves.hpp"
#include "support/limits.hpp"
#include "support/mask.hpp"
#include "tree/predict.hpp"

namespace frugal {
namespace {

TableFacts facts_of(const BinnedMatrix& X, const Target& target, Context& context) {
  const Weights& weights = *target.weights;
  TableFacts facts;
  facts.targets = target.columns;
  facts.rows = weights.rows;
  facts.weight = weights.total;
  facts.weight_shift = weights.shift;
  facts.weighted = weights.weighted;
  facts.thresholds = &X.thresholds();
  facts.columns.resize(X.columns());
  std::vector<std::int64_t> listed(X.columns()), missing(X.columns());
  for (size_t c = 0; c < X.columns(); ++c) {
    ColumnFacts& column = facts.columns[c];
    column.bins = X.value_bins(c);
    column.categorical = X.categorical(c);
    column.sparse = X.is_sparse(c);
    missing[c] = X.has_missing(c);
    if (column.sparse) {
      for (Row row : X.listed(X.place(c)).rows) listed[c] += weights.unit(row);
    } else {
      column.place = X.place(c);
    }
  }
  context.together().sum(listed, "listed weights");
  context.together().sum(missing, "missing values");
  for (size_t c = 0; c < X.columns(); ++c) {
    facts.columns[c].listed_weight = listed[c];
    facts.columns[c].missing = missing[c] > 0;
  }
  return facts;
}

}  // namespace

CpuEngine::CpuEngine(const Sample& train, const Sample* validation, Loss& loss, RawPredictions before,
                     const EngineOptions& options, Context& context)
    : train_(train),
      weights_(*train.target.weights),
      loss_(loss),
      options_(options),
      context_(context),
      facts_(facts_of(train.X, train.target, context)),
      min_weight_(scaled(options.min_samples_leaf, weights_.shift)),
      predictions_(train_.target, validation, loss, std::move(before), context),
      drawn_(weights_, train.X.rows(), context),
      partition_(train.X.rows()),
      looked_(train.X.rows(), train.X.columns(), weights_),
      rows_(weights_),
      owned_(train.X),
      offered_(train.X),
      singles_(train.X),
      single_search_(facts_, weights_, min_weight_),
      sparse_search_(train.X, facts_, weights_, min_weight_),
      lines_(train.X, drawn_) {
  search_.reserve(kPools);
  for (size_t pool = 0; pool < kPools; ++pool) search_.emplace_back(facts_, weights_, min_weight_);
  search_[number_of(Pool::all)].use(train.X.lanes());
  search_[number_of(Pool::owned)].use(owned_.lanes());
  search_[number_of(Pool::offered)].use(offered_.lanes());
  single_search_.use(singles_.lanes());
}

void CpuEngine::constrain(std::span<const std::int8_t> trends) {
  for (size_t c = 0; c < trends.size(); ++c) facts_.columns[c].trend = trends[c];
}

void CpuEngine::confine(std::span<const ValueRange> ranges) {
  for (size_t n = 0; n < ranges.size(); ++n) level_.nodes[n].range = ranges[n];
}

void CpuEngine::begin_trees(std::span<const std::int8_t> signs, const RowDraw& draw) {
  for_all_ = !signs.empty();
  if (for_all_) combine(predictions_, signs, weights_, context_, combined_);
  const AllGradients gradients = searched();
  drawn_.draw(draw, context_);
  partition_.reset(gradients.size(), drawn_, context_);
  if (looked_.kept()) looked_.begin_trees(gradients.size(), drawn_, context_);
  leaves_.assign(gradients.size(), {});
  roots_.clear();
  level_ = {};
  for (size_t k = 0; k < gradients.size(); ++k) {
    roots_.push_back(drawn_.sums(gradients[k], context_));
    OpenNode root;
    root.output = k;
    root.end = narrow<Row>(drawn_.count());
    root.sums = roots_[k];
    level_.nodes.push_back(root);
    level_.pairs.push_back({k, kNone, kNone});
  }
  for (GroupSearch& search : search_) search.begin_trees();
  begin_screening();
}

std::vector<std::int64_t> CpuEngine::probe(std::uint64_t number) {
  if (row_keys_.empty()) row_keys_ = row_keys(train_.X, context_);
  return frugal::probe(predictions_.gradients(), row_keys_, number, weights_, context_);
}

// The sample is drawn before the first trees that need it, and dropped once no more do.
void CpuEngine::begin_screening() {
  const AllGradients gradients = searched();
  if (!screening_) return sample_.reset();
  if (!sample_)
    sample_ = std::make_unique<RowSample>(
        train_.X, facts_, rows_to_sample(train_.X, gradients[0], options_.seed, context_), kMissProbability, context_);
  sample_->begin_trees(gradients, drawn_, context_);
}

// Sums of the open nodes: those of the smaller sibling from its rows, those of the larger one by subtraction. Parts
// have added up gradients when they split.
void CpuEngine::add_up_level(std::span<const std::uint8_t> open, bool squares) {
  const bool alone = context_.together().alone();
  std::vector<Siblings> pairs;
  std::vector<std::int64_t> gradient;
  std::vector<Int128> square;
  for (const Siblings& pair : level_.pairs) {
    if (!open[pair.small] && (pair.large == kNone || !open[pair.large])) continue;
    pairs.push_back(pair);
    const OpenNode& small = level_.nodes[pair.small];
    if (alone) gradient.push_back(pair.large == kNone ? 0 : rows_.gradient(small, context_));
    square.push_back(squares ? rows_.squares(small, context_) : 0);
  }
  if (squares) sum_all(context_.together(), square, "squared gradients of nodes");
  for (size_t i = 0; i < pairs.size(); ++i) {
    NodeSums& small = level_.nodes[pairs[i].small].sums;
    small.squares = square[i];
    if (pairs[i].large == kNone) continue;                // a root, whose gradient sum is known
    NodeSums& large = level_.nodes[pairs[i].large].sums;  // still those of its parent
    if (alone) large.gradient -= small.gradient = gradient[i];
    large.squares -= square[i];
  }
}

std::vector<NodeSums> CpuEngine::begin_level(std::span<const std::uint8_t> open, bool squares) {
  rows_.begin_level(partition_, searched());
  for (GroupSearch& search : search_) search.begin_level(level_);
  add_up_level(open, squares);
  std::vector<NodeSums> sums;
  for (const OpenNode& node : level_.nodes) sums.push_back(node.sums);
  return sums;
}

std::vector<NodeSums> CpuEngine::split(std::span<const SplitRule> splits, std::span<const size_t> leaves) {
  for (size_t leaf : leaves) leaves_[level_.nodes[leaf].output].push_back(level_.nodes[leaf]);
  std::vector<NodeSplit> node_splits;
  for (const SplitRule& rule : splits) node_splits.push_back({&rule, level_.nodes[rule.node]});
  partition_.split(node_splits, bins(), weights_, context_);
  partition_.add_up(node_splits, searched(), weights_, context_);
  if (sample_) sample_->split(splits, context_);
  Level next;
  std::vector<NodeSums> sums;
  for (NodeSplit& p : node_splits) {
    const bool left_small = p.left.sums.rows <= p.right.sums.rows;
    OpenNode& large = left_small ? p.right : p.left;
    if (context_.together().alone())
      large.sums.gradient = p.node.sums.gradient;  // add_up_level subtracts those of the smaller one
    large.sums.squares = p.node.sums.squares;
    const size_t left = next.nodes.size(), right = left + 1;
    next.pairs.push_back(left_small ? Siblings{left, right, p.rule->node} : Siblings{right, left, p.rule->node});
    next.nodes.push_back(p.left);
    next.nodes.push_back(p.right);
    sums.push_back(p.left.sums);
    sums.push_back(p.right.sums);
  }
  if (splits.size() + leaves.size() < level_.nodes.size()) let_wait(splits, leaves, next);
  level_ = std::move(next);
  return sums;
}

// The nodes of the level that are neither split nor leaves are in the next one too.
void CpuEngine::let_wait(std::span<const SplitRule> splits, std::span<const size_t> leaves, Level& next) const {
  std::vector<std::uint8_t> done(level_.nodes.size());
  for (const SplitRule& rule : splits) done[rule.node] = 1;
  for (size_t leaf : leaves) done[leaf] = 1;
  for (size_t n = 0; n < done.size(); ++n) {
    if (done[n]) continue;
    next.waiting.push_back({next.nodes.size(), n});
    next.nodes.push_back(level_.nodes[n]);
  }
}

void CpuEngine::own(std::span<const size_t> columns) {
  if (columns.empty()) return;
  for (size_t c : columns) {
    singles_.add(c, context_);
    owned_.add(c, singles_.bins(c), context_);
  }
  search_[number_of(Pool::owned)].use(owned_.lanes());
  single_search_.use(singles_.lanes());
}

void CpuEngine::offer(std::span<const size_t> columns) {
  offered_.set(columns, context_);
  search_[number_of(Pool::offered)].use(offered_.lanes());
}

void CpuEngine::expect(std::span<const size_t> columns) {
  const size_t before = singles_.lanes().places();
  for (size_t c : columns)
    if (singles_.lanes().places() < std::max(kFlatColumns, facts_.columns.size() / 8)) singles_.add(c, context_);
  if (singles_.lanes().places() > before) single_search_.use(singles_.lanes());
}

void CpuEngine::search(Pool pool, std::span<const std::uint8_t> wanted, bool deeper, std::span<ColumnSplit> splits) {
  search_[number_of(pool)].search(level_, wanted, deeper, rows_, searched(), splits, context_);
}

// Columns that were copied one by one are searched in the copy, so that only their bins are read.
void CpuEngine::search(Pool pool, std::span<Piece> pieces) {
  GroupSearch& search = search_[number_of(pool)];
  std::vector<GroupSearch::GroupPiece> groups, single;
  for (Piece& piece : pieces) {
    const OpenNode* node = &level_.nodes[piece.node];
    std::uint8_t wanted = piece.wanted;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      if (!has_bit(wanted, lane)) continue;
      const size_t place = singles_.place(search.column(piece.byte * kLanes + lane));
      if (place == kNone) continue;
      clear_bit(wanted, lane);
      single.push_back({node, place, 1, &piece.splits[lane]});
    }
    if (wanted) groups.push_back({node, piece.byte, wanted, piece.splits.data()});
  }
  search.search_pieces(groups, rows_, searched(), context_);
  single_search_.search_pieces(single, rows_, searched(), context_);
}

void CpuEngine::search_sparse(std::span<const size_t> columns, std::span<const std::uint8_t> wanted,
                              std::span<ColumnSplit> splits) {
  sparse_search_.search(columns, level_.nodes, wanted, partition_, searched(), splits, context_);
}

std::vector<std::int64_t> CpuEngine::cells(size_t node, size_t column) {
  std::vector<std::int64_t> cells(2 * (size_t{facts_.columns[column].bins} + 1));
  const OpenNode& open = level_.nodes[node];
  const auto rows = partition_.rows(open);
  const std::int32_t* q = searched()[open.output].q.data();
  std::vector<std::uint8_t> bins(rows.size());
  singles_.gather(column, rows, bins.data());
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t unit = weights_.unit(rows[i]);
    cells[2 * size_t{bins[i]}] += unit * q[rows[i]];
    cells[2 * size_t{bins[i]} + 1] += unit;
  }
  context_.together().sum(cells, "sums by level");
  return cells;
}

// The bounds of the sample do not hold for weighted rows, and a sample of a table in parts would have to be gathered in
// one of them.
bool CpuEngine::can_rule_out() const {
  return weights_.uniform() && train_.X.dense() > 0 && train_.X.rows() >= kSampleLeastRows &&
         context_.together().alone();
}

void CpuEngine::rule_out(std::span<ScreeningQuery> queries) {
  if (sample_) sample_->rule_out(queries, level_.nodes, searched(), context_);
}

std::vector<LeafSums> CpuEngine::leaf_sums(size_t output) {
  return sums_of_leaves(leaves_[tree_of(output)], partition_, weights_, predictions_.derived(output), context_);
}

std::vector<double> CpuEngine::leaf_quantiles(size_t output, double level) {
  return quantiles_of_leaves(leaves_[tree_of(output)], partition_, train_.target.of(output), weights_,
                             predictions_.raw(output), level, context_);
}

void CpuEngine::add_tree(size_t output, const Tree& tree, std::span<const double> leaf_values) {
  add_leaf_values(leaves_[tree_of(output)], partition_, leaf_values, predictions_.raw(output), context_);
  if (!drawn_.all()) frugal::add_tree(tree, train_.X, drawn_.rows(), predictions_.raw(output), context_);
  predictions_.add_to_validation(output, tree);
}

void CpuEngine::add_line(size_t output, size_t column, double value, double slope) {
  lines_.add(column, value, slope, train_.X, predictions_.raw(output), context_);
  if (const Sample* rows = predictions_.validation())
    lines_.add(column, value, slope, rows->X, predictions_.validation_raw(output), context_);
}

}  // namespace frugal
