#include "engine/cuda/cuda_engine.hpp"

#include <algorithm>
#include <map>

#include "data/row_keys.hpp"
#include "support/limits.hpp"
#include "support/mask.hpp"

namespace frugal {
namespace {

using device::kTile;

// All columns are dense on the device.
TableFacts facts_of(const BinnedMatrix& X, const Weights& weights) {
  TableFacts facts;
  facts.rows = weights.rows;
  facts.weight = weights.total;
  facts.weight_shift = weights.shift;
  facts.weighted = weights.weighted;
  facts.thresholds = &X.thresholds();
  facts.columns.resize(X.columns());
  const std::vector<size_t> order = device::device_order(X);
  for (size_t p = 0; p < order.size(); ++p) {
    ColumnFacts& column = facts.columns[order[p]];
    column.bins = X.value_bins(order[p]);
    column.categorical = X.categorical(order[p]);
    column.missing = X.has_missing(order[p]);
    column.place = p;
  }
  return facts;
}

}  // namespace

CudaEngine::CudaEngine(const Sample& train, const Sample* validation, Loss& loss, RawPredictions before,
                       const EngineOptions& options, Context& context, std::shared_ptr<const device::Device> on)
    : train_(train),
      validation_(validation),
      loss_(loss),
      context_(context),
      facts_(facts_of(train.X, *train.target.weights)),
      min_weight_(scaled(options.min_samples_leaf, train.target.weights->shift)),
      queue_(std::move(on)),
      predictions_(queue_, train_.target, validation, loss, std::move(before)),
      columns_(queue_, train.X, facts_),
      owned_(queue_, train.X.rows()),
      offered_(queue_, train.X.rows()),
      partition_(queue_, train.X.rows()),
      search_(queue_, facts_, *train_.target.weights, predictions_.train().units(), min_weight_),
      leaf_work_(queue_, predictions_),
      lines_(queue_, train.X, columns_, search_),
      seed_(options.seed) {
  if (!context.together().alone())
    throw device::DeviceError("A GPU takes whole tables, not parts of one. Fit with device=\"cpu\".");
  if (validation) validation_columns_ = std::make_unique<device::SingleUploads>(queue_, validation->X);
  pools_.reserve(kPools);
  pools_.emplace_back(search_, columns_.all());
  pools_.emplace_back(search_, offered_);
  pools_.emplace_back(search_, owned_);
}

// Looks for Ctrl-C.
void CudaEngine::stop_if_asked() {
  context_.parallel_for(1, 0.0, [](size_t, size_t) {});
}

void CudaEngine::constrain(std::span<const std::int8_t> trends) {
  for (size_t c = 0; c < trends.size(); ++c) facts_.columns[c].trend = trends[c];
  columns_.tell();
  owned_.tell(facts_);
  offered_.tell(facts_);
}

void CudaEngine::confine(std::span<const ValueRange> ranges) {
  for (size_t n = 0; n < ranges.size(); ++n) level_.nodes[n].range = ranges[n];
}

Losses CudaEngine::losses() {
  stop_if_asked();
  return predictions_.losses();
}

std::span<const double> CudaEngine::validation_raw() {
  validation_raw_.clear();
  if (device::DeviceRows* rows = predictions_.validation()) validation_raw_ = rows->raw_values();
  return validation_raw_;
}

void CudaEngine::begin_trees(std::span<const std::int8_t> signs, const RowDraw& draw) {
  trees_ = predictions_.gradients();
  if (!signs.empty()) trees_ = {predictions_.combine(signs)};
  roots_ = partition_.reset(trees_, draw, *train_.target.weights, predictions_.train().units());
  leaves_.assign(trees_.size(), {});
  level_ = {};
  for (size_t k = 0; k < trees_.size(); ++k) {
    OpenNode root;
    root.output = k;
    root.end = partition_.drawn().count;
    root.list = device::DevicePartition::kRoot;
    root.sums = roots_[k];
    level_.nodes.push_back(root);
    level_.pairs.push_back({k, kNone, kNone});
  }
  for (device::DevicePool& pool : pools_) pool.begin_trees();
  begin_screening();
}

// The bounds of the sample do not hold for weighted rows.
bool CudaEngine::can_rule_out() const {
  return train_.target.weights->uniform() && !facts_.columns.empty() && train_.X.rows() >= kSampleLeastRows;
}

// The sample is drawn before the first trees that need it, and dropped once no more do. Where rows are drawn for trees,
// it rules out nothing.
void CudaEngine::begin_screening() {
  if (!screening_ || !partition_.all_drawn()) return sample_.reset();
  if (!sample_) {
    GridGradients first;
    first.q.resize(train_.X.rows());
    queue_.download(first.q.data(), trees_[0].q, first.q.size() * sizeof(std::int32_t));
    sample_ = std::make_unique<device::DeviceSample>(queue_, columns_, facts_,
                                                     rows_to_sample(train_.X, first, seed_, context_));
  }
  sample_->begin_trees(trees_);
}

void CudaEngine::rule_out(std::span<ScreeningQuery> queries) {
  if (sample_) sample_->rule_out(queries, level_.nodes, trees_);
}

std::vector<std::int64_t> CudaEngine::probe(std::uint64_t number) {
  if (row_keys_.empty()) row_keys_ = row_keys(train_.X, context_);
  return predictions_.probe(row_keys_, number);
}

// All sums are known since the rows were parted.
std::vector<NodeSums> CudaEngine::begin_level(std::span<const std::uint8_t>, bool) {
  stop_if_asked();
  for (device::DevicePool& pool : pools_) pool.begin_level(level_);
  std::vector<NodeSums> sums;
  for (const OpenNode& node : level_.nodes) sums.push_back(node.sums);
  return sums;
}

std::vector<NodeSums> CudaEngine::split(std::span<const SplitRule> splits, std::span<const size_t> leaves) {
  for (size_t leaf : leaves) leaves_[level_.nodes[leaf].output].push_back(level_.nodes[leaf]);
  std::vector<device::DevicePartition::NodeSplit> node_splits;
  for (const SplitRule& rule : splits) node_splits.push_back({&rule, level_.nodes[rule.node]});
  partition_.start(node_splits, [&](size_t column) { return columns_.single(column); }, predictions_.train().units());
  if (sample_) sample_->start(splits);
  partition_.finish(node_splits);
  if (sample_) sample_->finish();
  Level next;
  std::vector<NodeSums> sums;
  for (const auto& s : node_splits) {
    const size_t left = next.nodes.size(), right = left + 1;
    const bool left_small = s.left.sums.rows <= s.right.sums.rows;
    next.pairs.push_back(left_small ? Siblings{left, right, s.rule->node} : Siblings{right, left, s.rule->node});
    for (const OpenNode& child : {s.left, s.right}) {
      next.nodes.push_back(child);
      sums.push_back(child.sums);
    }
  }
  if (splits.size() + leaves.size() < level_.nodes.size()) let_wait(splits, leaves, next);
  level_ = std::move(next);
  return sums;
}

// The nodes of the level that are neither split nor leaves are in the next one too.
void CudaEngine::let_wait(std::span<const SplitRule> splits, std::span<const size_t> leaves, Level& next) const {
  std::vector<std::uint8_t> done(level_.nodes.size());
  for (const SplitRule& rule : splits) done[rule.node] = 1;
  for (size_t leaf : leaves) done[leaf] = 1;
  for (size_t n = 0; n < done.size(); ++n) {
    if (done[n]) continue;
    next.waiting.push_back({next.nodes.size(), n});
    next.nodes.push_back(level_.nodes[n]);
  }
}

void CudaEngine::own(std::span<const size_t> columns) {
  if (columns.empty()) return;
  const size_t before = owned_.columns().size();
  std::vector<size_t> all = owned_.columns();
  all.insert(all.end(), columns.begin(), columns.end());
  owned_.set(all, before / kTile * kTile, facts_, [&](size_t place) { return columns_.bins_of(all[place]); });
  pools_[number_of(Pool::owned)].forget();
}

void CudaEngine::offer(std::span<const size_t> columns) {
  offered_.set(columns, 0, facts_, [&](size_t place) { return columns_.bins_of(columns[place]); });
  pools_[number_of(Pool::offered)].forget();
}

void CudaEngine::search(Pool pool, std::span<const std::uint8_t> wanted, bool deeper, std::span<ColumnSplit> splits) {
  pools_[number_of(pool)].search(here(), wanted, deeper, splits);
}

// Pieces of one tile at one node are searched together.
void CudaEngine::search(Pool pool, std::span<Piece> pieces) {
  const device::TiledColumns& columns = pools_[number_of(pool)].columns();
  std::map<std::pair<size_t, size_t>, std::uint32_t> wanted;
  for (const Piece& piece : pieces) {
    const size_t place = piece.byte * kByteBits;
    wanted[{piece.node, place / kTile}] |= std::uint32_t{piece.wanted} << (place % kTile);
  }
  std::vector<std::array<ColumnSplit, kTile>> splits(wanted.size());
  std::vector<device::DeviceSearch::TilePiece> tiles;
  std::map<std::pair<size_t, size_t>, size_t> number;
  for (const auto& [at, bits] : wanted) {
    number[at] = tiles.size();
    tiles.push_back({&level_.nodes[at.first], &columns, at.second, bits, splits[tiles.size()].data()});
  }
  search_.search(tiles, here());
  for (Piece& piece : pieces) {
    const size_t place = piece.byte * kByteBits;
    const auto& found = splits[number.at({piece.node, place / kTile})];
    for (size_t lane = 0; lane < kByteBits; ++lane)
      if (has_bit(piece.wanted, lane)) piece.splits[lane] = found[place % kTile + lane];
  }
}

void CudaEngine::search_sparse(std::span<const size_t>, std::span<const std::uint8_t>, std::span<ColumnSplit>) {
  throw std::logic_error("A GPU has no sparse columns.");
}

std::vector<ListedSums> CudaEngine::listed(size_t, std::span<const size_t>) {
  throw std::logic_error("A GPU has no sparse columns.");
}

std::vector<std::int64_t> CudaEngine::cells(size_t node, size_t column) {
  const size_t place = facts_.columns[column].place;
  std::int64_t* tile = search_.scratch(1);
  const device::HistogramJob job = search_.job_of(columns_.all(), place / kTile, std::uint32_t{1} << (place % kTile),
                                                  partition_.rows_of(level_.nodes[node]), tile);
  search_.build({&job, 1});
  std::vector<std::int64_t> all(device::kTileWords);
  queue_.download(all.data(), tile, all.size() * sizeof(std::int64_t));
  std::vector<std::int64_t> cells(2 * (size_t{facts_.columns[column].bins} + 1));
  for (size_t b = 0; b < facts_.columns[column].cells(); ++b)
    for (size_t w = 0; w < 2; ++w) cells[2 * b + w] = all[(b * kTile + place % kTile) * 2 + w];
  return cells;
}

std::vector<device::RowList> CudaEngine::leaves_of(size_t output) const {
  std::vector<device::RowList> lists;
  for (const OpenNode& leaf : leaves_[tree_of(output)]) lists.push_back(partition_.rows_of(leaf));
  return lists;
}

std::vector<LeafSums> CudaEngine::leaf_sums(size_t output) {
  return leaf_work_.sums(output, leaves_of(output), leaves_[tree_of(output)]);
}

std::vector<double> CudaEngine::leaf_quantiles(size_t output, double level) {
  return leaf_work_.quantiles(output, leaves_of(output), level);
}

void CudaEngine::add_tree(size_t output, const Tree& tree, std::span<const double> leaf_values) {
  leaf_work_.add(output, leaves_of(output), leaf_values);
  if (!partition_.all_drawn())
    leaf_work_.walk(tree, partition_.others(), predictions_.train().raw(output), [&](size_t column) {
      return std::pair(columns_.bins_of(column), size_t{facts_.columns[column].bins});
    });
  if (device::DeviceRows* rows = predictions_.validation()) {
    const device::RowList all{nullptr, nullptr, 0, narrow<Row>(rows->count()), 0};
    leaf_work_.walk(tree, all, rows->raw(output), [&](size_t column) {
      return std::pair(validation_columns_->of(column), size_t{facts_.columns[column].bins});
    });
  }
}

device::RowList CudaEngine::drawn_with(size_t output) const {
  device::RowList rows = partition_.drawn();
  if (rows.count == 0 && partition_.all_drawn()) rows.count = narrow<Row>(train_.X.rows());
  rows.q = predictions_.gradients()[output].q;
  return rows;
}

std::vector<ScoreSums> CudaEngine::score_sums(std::span<const size_t> columns) {
  return lines_.sums(columns, drawn_with(0));
}

std::vector<Int128> CudaEngine::score_gradients(size_t output, std::span<const size_t> columns) {
  return lines_.gradients(columns, drawn_with(output));
}

LineSums CudaEngine::line_sums(size_t output, size_t column) {
  return lines_.line(column, output, drawn_with(output), predictions_);
}

double CudaEngine::line_quantile(size_t output, size_t column, double intercept, double level) {
  return leaf_work_.line_quantile(output, drawn_with(output), columns_.bins_of(column), lines_.scores_of(column),
                                  intercept, level);
}

std::vector<double> CudaEngine::curvatures(size_t output, std::span<const size_t> columns) {
  return lines_.curvatures(columns, output, drawn_with(output), predictions_);
}

void CudaEngine::add_line(size_t output, size_t column, double value, double slope) {
  lines_.add(columns_.bins_of(column), column, train_.X.rows(), value, slope, predictions_.train().raw(output));
  if (device::DeviceRows* rows = predictions_.validation())
    lines_.add(validation_columns_->of(column), column, rows->count(), value, slope, rows->raw(output));
}

}  // namespace frugal
