#include "splitting.hpp"

#include <algorithm>
#include <array>

#include "limits.hpp"

namespace frugal {

SplitSearch::SplitSearch(const BinnedMatrix& X, const Weights& weights, double min_samples_leaf)
    : X_(X), weights_(weights), min_weight_(scaled(min_samples_leaf, weights.shift)), layout_(X, !weights.uniform()) {
  for (size_t s = 0; s < X.sparse(); ++s) {
    std::int64_t weight = 0;
    for (Row row : X.listed(s).rows) weight += weights.unit(row);
    if (static_cast<double>(weight) >= min_weight_) worth_searching_.push_back(s);
  }
}

int SplitSearch::take_histogram() {
  auto free = std::find(taken_.begin(), taken_.end(), 0);
  if (free == taken_.end()) {
    if ((pool_.size() + 1) * layout_.words() * sizeof(std::int64_t) > kHistogramPoolBytes) return -1;
    pool_.emplace_back(layout_.words());
    taken_.push_back(0);
    free = taken_.end() - 1;
  }
  *free = 1;
  return static_cast<int>(free - taken_.begin());
}

// The larger sibling takes its parent's place in the pool, since it is parent minus smaller sibling.
void SplitSearch::keep_histograms(std::span<Siblings> level, bool deeper) {
  std::fill(taken_.begin(), taken_.end(), 0);
  for (const auto& pair : level)
    if (pair.parent_histogram >= 0) taken_[static_cast<size_t>(pair.parent_histogram)] = 1;
  if (!deeper) return;
  for (auto& pair : level) {
    if (pair.small_slot >= 0) pair.small_histogram = take_histogram();
    if (pair.large_slot >= 0)
      pair.large_histogram = pair.parent_histogram >= 0 ? pair.parent_histogram : take_histogram();
  }
}

// Gradients of a node brought into the order of its rows, once for all columns.
NodeRows SplitSearch::in_order(const OpenNode& node, const RowPartition& partition, const GridGradients& gradients,
                               Context& context) {
  if (node.rows() == X_.rows())
    return {nullptr, 0, gradients.q.data(), weights_.uniform() ? nullptr : weights_.units.data(), X_.rows()};
  const Row* rows = partition.rows(node);
  ordered_q_.resize(X_.rows());
  if (!weights_.uniform()) ordered_units_.resize(X_.rows());
  context.over_blocks(node.rows(), 16384, 1.0, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) ordered_q_[node.begin + i] = gradients.q[rows[i]];
    if (weights_.uniform()) return;
    for (size_t i = begin; i < end; ++i) ordered_units_[node.begin + i] = weights_.units[rows[i]];
  });
  return {rows, 0, ordered_q_.data() + node.begin, weights_.uniform() ? nullptr : ordered_units_.data() + node.begin,
          node.rows()};
}

void SplitSearch::build_in_parts(std::vector<Task>& tasks, Context& context) {
  struct Part {
    const Build* build;
    size_t group, part;
  };
  const size_t wanted = 4 * static_cast<size_t>(context.threads());
  if (context.threads() == 1 || tasks.size() * X_.groups() >= wanted) return;
  const size_t most = (wanted + tasks.size() * X_.groups() - 1) / (tasks.size() * X_.groups());
  std::vector<Part> parts;
  size_t words = 0;
  for (auto& task : tasks)
    for (Build* build : {&task.small, &task.large}) {
      build->parts = std::clamp<size_t>(build->rows.count / kLeastPartRows, 1, most);
      if (build->parts == 1) continue;
      build->at = words;
      words += build->parts * layout_.words();
      for (size_t group = 0; group < X_.groups(); ++group)
        for (size_t part = 0; part < build->parts; ++part) parts.push_back({build, group, part});
    }
  parts_.resize(words);
  context.parallel_for(parts.size(), 1e9, [&](size_t i, int thread) {
    const auto& [build, group, part] = parts[i];
    const size_t n = build->rows.count;
    const NodeRows rows = build->rows.part(n * part / build->parts, n * (part + 1) / build->parts);
    std::int64_t* cells = parts_.data() + build->at + part * layout_.words() + layout_.group_begin(group);
    layout_.build(rows, group, cells, scratch_[static_cast<size_t>(thread)].data());
  });
}

void SplitSearch::build(const Build& build, size_t group, std::int64_t* cells, std::int64_t* scratch) const {
  if (build.parts == 1) return layout_.build(build.rows, group, cells, scratch);
  const size_t words = layout_.group_words(group);
  std::fill_n(cells, words, 0);
  for (size_t part = 0; part < build.parts; ++part) {
    const std::int64_t* from = parts_.data() + build.at + part * layout_.words() + layout_.group_begin(group);
    for (size_t i = 0; i < words; ++i) cells[i] += from[i];
  }
}

void SplitSearch::scan(const OpenNode& node, size_t group, const std::int64_t* cells, const GridGradients& gradients,
                       ColumnSplit* out) const {
  const double factor = gradients.gain_factor(weights_, node.weight);
  const auto scan_column = layout_.one_word() ? kernels().scan_packed : kernels().scan_wide;
  const size_t first = group * BinnedMatrix::kLanes;
  for (int lane = 0; lane < X_.lanes(group); ++lane) {
    const size_t place = first + static_cast<size_t>(lane), c = X_.dense_column(place);
    const ScanTask task{cells + layout_.column_begin(place) - layout_.group_begin(group),
                        X_.value_bins(c),
                        X_.has_missing(c),
                        node.gradient,
                        node.weight,
                        min_weight_,
                        factor};
    const ScanResult best = X_.categorical(c) ? scan_levels(task) : scan_column(task);
    out[c] = {best.gain, static_cast<std::uint16_t>(best.bin), static_cast<MissingSide>(best.missing_side)};
  }
}

// The same scan over the levels' groups, ascending by mean gradient, instead of over bins.
ScanResult SplitSearch::scan_levels(const ScanTask& column) const {
  std::array<std::int64_t, 2 * (kMostBins + 1)> wide{};
  const int cells = column.value_bins + column.has_missing;
  if (layout_.one_word()) {
    for (int b = 0; b < cells; ++b) {
      wide[static_cast<size_t>(2 * b)] = column.cells[b] >> kCountBits;
      wide[static_cast<size_t>(2 * b + 1)] = column.cells[b] & kCountMask;
    }
  } else {
    std::copy_n(column.cells, 2 * cells, wide.begin());
  }
  LevelGroups groups(wide.data(), column.value_bins, min_weight_);
  if (column.has_missing) std::copy_n(wide.begin() + 2 * column.value_bins, 2, groups.cells.begin() + 2 * groups.count);
  ScanTask ordered = column;
  ordered.cells = groups.cells.data();
  ordered.value_bins = groups.count;
  return kernels().scan_wide(ordered);
}

LevelGroups SplitSearch::levels_of(const OpenNode& node, size_t column, const RowPartition& partition,
                                   const GridGradients& gradients) const {
  std::array<std::int64_t, 2 * kMostBins> cells{};
  const Row* rows = partition.rows(node);
  std::vector<std::uint8_t> bins(node.rows());
  X_.gather(column, {rows, node.rows()}, bins.data());
  for (size_t i = 0; i < node.rows(); ++i) {
    const std::int64_t unit = weights_.unit(rows[i]);
    cells[2 * size_t{bins[i]}] += unit * gradients.q[rows[i]];
    cells[2 * size_t{bins[i]} + 1] += unit;
  }
  return LevelGroups(cells.data(), X_.value_bins(column), min_weight_);
}

// Sums what is listed of one column for all nodes at once; the usual bin has what is left of each node.
void SplitSearch::search_sparse_column(size_t number, const std::vector<const OpenNode*>& nodes,
                                       const GridGradients& gradients, std::span<ColumnSplit> splits,
                                       std::vector<std::int64_t>& cells) const {
  const size_t c = X_.sparse_column(number);
  const auto column = X_.listed(number);
  const auto words = static_cast<size_t>(2 * X_.cells(c));
  for (size_t first = 0; first < nodes.size(); first += kSparseSlots) {
    const size_t count = std::min<size_t>(kSparseSlots, nodes.size() - first);
    cells.assign(count * words, 0);
    for (size_t i = 0; i < column.rows.size(); ++i) {
      const Row row = column.rows[i];
      const size_t slot = static_cast<size_t>(slot_of_row_[row]) - first;  // wraps around below the first
      if (slot >= count) continue;
      std::int64_t* cell = cells.data() + slot * words + 2 * size_t{column.bins[i]};
      const std::int64_t unit = weights_.unit(row);
      cell[0] += unit * gradients.q[row];
      cell[1] += unit;
    }
    for (size_t slot = 0; slot < count; ++slot) {
      const OpenNode* node = nodes[first + slot];
      if (node == nullptr) continue;
      std::int64_t* own = cells.data() + slot * words;
      std::int64_t gradient = 0, weight = 0;
      for (size_t w = 0; w < words; w += 2) {
        gradient += own[w];
        weight += own[w + 1];
      }
      if (static_cast<double>(weight) < min_weight_) continue;  // the side without the usual bin is too light
      own[2 * column.usual_bin] = node->gradient - gradient;
      own[2 * column.usual_bin + 1] = node->weight - weight;
      const ScanResult best =
          kernels().scan_wide({own, X_.value_bins(c), X_.has_missing(c), node->gradient, node->weight, min_weight_,
                               gradients.gain_factor(weights_, node->weight)});
      splits[(first + slot) * X_.columns() + c] = {best.gain, static_cast<std::uint16_t>(best.bin),
                                                   static_cast<MissingSide>(best.missing_side)};
    }
  }
}

void SplitSearch::search_sparse(std::span<const Siblings> level, const RowPartition& partition,
                                const GridGradients& gradients, std::span<ColumnSplit> splits, Context& context) {
  if (worth_searching_.empty()) return;
  std::vector<const OpenNode*> nodes(splits.size() / X_.columns(), nullptr);
  slot_of_row_.assign(X_.rows(), -1);
  auto enter = [&](const OpenNode& node, int slot) {
    if (slot < 0) return;
    nodes[static_cast<size_t>(slot)] = &node;
    const Row* rows = partition.rows(node);
    for (size_t i = 0; i < node.rows(); ++i) slot_of_row_[rows[i]] = slot;
  };
  for (const auto& pair : level) {
    enter(pair.small, pair.small_slot);
    enter(pair.large, pair.large_slot);
  }
  std::vector<std::vector<std::int64_t>> cells(static_cast<size_t>(context.threads()));
  const double work = 3.0 * static_cast<double>(X_.listed_rows().size() + worth_searching_.size() * nodes.size() * 20);
  constexpr size_t kBlock = 32;
  context.parallel_for((worth_searching_.size() + kBlock - 1) / kBlock, work, [&](size_t block, int thread) {
    for (size_t i = block * kBlock; i < std::min(worth_searching_.size(), (block + 1) * kBlock); ++i)
      search_sparse_column(worth_searching_[i], nodes, gradients, splits, cells[static_cast<size_t>(thread)]);
  });
}

void SplitSearch::finish(const Task& task, size_t group, const GridGradients& gradients, std::span<ColumnSplit> splits,
                         std::int64_t* scratch) {
  const Siblings& pair = *task.pair;
  const size_t words = layout_.group_words(group);
  std::int64_t* spare = scratch + layout_.most_group_words();
  std::int64_t* small = pair.small_histogram >= 0 ? histogram(pair.small_histogram, group) : spare;
  spare += layout_.most_group_words();
  std::int64_t* large = pair.large_histogram >= 0 ? histogram(pair.large_histogram, group) : spare;
  if (task.small.rows.count > 0) build(task.small, group, small, scratch);
  if (task.large.rows.count > 0) {
    build(task.large, group, large, scratch);
  } else if (pair.large_slot >= 0) {
    const std::int64_t* parent = histogram(pair.parent_histogram, group);
    for (size_t i = 0; i < words; ++i) large[i] = parent[i] - small[i];
  }
  auto row_of = [&](int slot) { return splits.data() + static_cast<size_t>(slot) * X_.columns(); };
  if (pair.small_slot >= 0) scan(pair.small, group, small, gradients, row_of(pair.small_slot));
  if (pair.large_slot >= 0) scan(pair.large, group, large, gradients, row_of(pair.large_slot));
}

void SplitSearch::search(std::span<Siblings> level, bool deeper, const RowPartition& partition,
                         const GridGradients& gradients, std::span<ColumnSplit> splits, Context& context) {
  search_sparse(level, partition, gradients, splits, context);
  if (X_.dense() == 0) return;
  scratch_.resize(static_cast<size_t>(context.threads()));
  for (auto& s : scratch_) s.resize(3 * layout_.most_group_words());
  keep_histograms(level, deeper);
  std::vector<Task> tasks;
  double work = 0;
  for (auto& pair : level) {
    if (pair.small_slot < 0 && pair.large_slot < 0) continue;
    Task task{&pair, {}, {}};
    const bool subtract = pair.large_slot >= 0 && pair.parent_histogram >= 0;
    if (pair.small_slot >= 0 || subtract) task.small.rows = in_order(pair.small, partition, gradients, context);
    if (pair.large_slot >= 0 && !subtract) task.large.rows = in_order(pair.large, partition, gradients, context);
    work += static_cast<double>((task.small.rows.count + task.large.rows.count) * X_.dense() + layout_.words());
    tasks.push_back(task);
  }
  if (tasks.empty()) return;
  build_in_parts(tasks, context);
  context.parallel_for(tasks.size() * X_.groups(), work, [&](size_t i, int thread) {
    finish(tasks[i / X_.groups()], i % X_.groups(), gradients, splits, scratch_[static_cast<size_t>(thread)].data());
  });
}

}  // namespace frugal
