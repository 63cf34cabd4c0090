#include "engine/cpu/group_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "support/limits.hpp"

namespace frugal {
namespace {

// The next number up that fits a float.
float at_least(double v) {
  using Limits = std::numeric_limits<float>;
  return v < double{Limits::max()} ? std::nextafter(static_cast<float>(v), Limits::infinity()) : Limits::infinity();
}

}  // namespace

GroupSearch::GroupSearch(const BinnedMatrix& X, const Weights& weights, double min_weight)
    : X_(X), weights_(weights), min_weight_(min_weight) {}

void GroupSearch::use(const Lanes& lanes) {
  layout_ = std::make_unique<Histograms>(X_, lanes, !weights_.uniform());
  pool_.clear();
  taken_.clear();
}

int GroupSearch::take_histogram() {
  auto free = std::find(taken_.begin(), taken_.end(), 0);
  if (free == taken_.end()) {
    if ((pool_.size() + 1) * layout_->words() * sizeof(std::int64_t) > kHistogramPoolBytes) return -1;
    pool_.emplace_back(layout_->words());
    taken_.push_back(0);
    free = taken_.end() - 1;
  }
  *free = 1;
  return static_cast<int>(free - taken_.begin());
}

// The larger sibling takes its parent's place in the pool, since it is parent minus smaller sibling.
void GroupSearch::keep_histograms(std::span<Siblings> level, Kept Siblings::* kept,
                                  std::span<const std::uint8_t> wanted, bool deeper) {
  std::fill(taken_.begin(), taken_.end(), 0);
  for (const auto& pair : level)
    if ((pair.*kept).parent >= 0) taken_[static_cast<size_t>((pair.*kept).parent)] = 1;
  auto is_wanted = [&](int slot) { return slot >= 0 && wanted[static_cast<size_t>(slot)]; };
  for (auto& pair : level) {
    Kept& own = pair.*kept;
    own.small = deeper && is_wanted(pair.small_slot) ? take_histogram() : -1;
    own.large = -1;
    if (deeper && is_wanted(pair.large_slot)) own.large = own.parent >= 0 ? own.parent : take_histogram();
  }
}

// Into how many ranges of rows the work is cut; 1: not at all.
size_t GroupSearch::ranges(std::span<Build* const> builds, int threads) const {
  size_t rows = 0;
  for (const Build* build : builds) rows += build->rows.count;
  const size_t table = layout_->lanes().rows, least = table / static_cast<size_t>(kCountMask) + 1;
  const size_t groups = layout_->lanes().groups.size();
  const bool busy = builds.size() * groups >= 4 * static_cast<size_t>(threads);
  if (table < kBlockedRows && (threads == 1 || busy)) return 1;
  const size_t most = rows / std::max<size_t>(1, builds.size() * kLeastPartRows);
  const size_t fit = kPartsBytes / (sizeof(std::int64_t) * layout_->part_words() * builds.size());
  const size_t wanted = std::min({std::max(least, 4 * static_cast<size_t>(threads)), most, fit});
  return wanted < std::max<size_t>(least, 2) ? 1 : wanted;
}

// Cells of one range of the table's rows, a block of rows at a time: what a block needs is fetched once, for all nodes.
void GroupSearch::build_range(std::span<Build* const> builds, size_t range, size_t begin, size_t end) {
  const size_t words = layout_->part_words(), groups = layout_->lanes().groups.size();
  auto cells = [&](const Build& build) { return parts_.data() + build.at + range * words; };
  for (const Build* build : builds) std::fill_n(cells(*build), words, 0);
  std::vector<NodeRows> rows(builds.size());
  for (size_t from = begin; from < end; from += kBlockRows) {
    const size_t to = std::min(end, from + kBlockRows);
    for (size_t i = 0; i < builds.size(); ++i) rows[i] = builds[i]->rows.between(from, to);
    for (size_t group = 0; group < groups; ++group)
      for (size_t i = 0; i < builds.size(); ++i)
        if (rows[i].count > 0) layout_->add_to_part(rows[i], group, cells(*builds[i]));
  }
}

void GroupSearch::build_in_parts(std::vector<Task>& tasks, Context& context) {
  std::vector<Build*> builds;
  for (auto& task : tasks)
    for (Build* build : {&task.small, &task.large})
      if (build->rows.count > 0) builds.push_back(build);
  const size_t parts = builds.empty() ? 1 : ranges(builds, context.threads());
  if (parts == 1) return;
  for (size_t i = 0; i < builds.size(); ++i) {
    builds[i]->parts = parts;
    builds[i]->at = i * parts * layout_->part_words();
  }
  parts_.resize(builds.size() * parts * layout_->part_words());
  const size_t rows = layout_->lanes().rows;
  context.parallel_for(parts, 1e9,
                       [&](size_t p, int) { build_range(builds, p, rows * p / parts, rows * (p + 1) / parts); });
}

void GroupSearch::build(const Build& build, size_t group, std::int64_t* cells, std::int64_t* scratch) const {
  if (build.parts == 1) return layout_->build(build.rows, group, cells, scratch);
  std::fill_n(cells, layout_->group_words(group), 0);
  for (size_t part = 0; part < build.parts; ++part)
    layout_->add_part(parts_.data() + build.at + part * layout_->part_words(), group, cells);
}

void GroupSearch::scan(const OpenNode& node, size_t group, const std::int64_t* cells, AllGradients gradients,
                       ColumnSplit* out, std::uint8_t wanted) const {
  const double factor = of(gradients, node).gain_factor(weights_, node.weight);
  const bool at_root = node.weight == weights_.total;
  const auto scan_column = layout_->one_word() ? kernels().scan_packed : kernels().scan_wide;
  for (int lane = 0; lane < layout_->lanes().width(group); ++lane) {
    if (!((wanted >> lane) & 1)) continue;
    const size_t place = layout_->lanes().first(group) + static_cast<size_t>(lane), c = column(place);
    const ScanTask task{cells + layout_->column_begin(place) - layout_->group_begin(group),
                        X_.value_bins(c),
                        X_.has_missing(c),
                        node.gradient,
                        node.weight,
                        min_weight_,
                        factor};
    if (X_.categorical(c)) {
      out[lane] = scan_levels(task, at_root);
      continue;
    }
    const ScanResult best = scan_column(task);
    out[lane] = {best.gain, static_cast<std::uint16_t>(best.bin), static_cast<MissingSide>(best.missing_side)};
  }
}

// The same scan over the levels' groups, ascending by mean gradient, instead of over bins.
ColumnSplit GroupSearch::scan_levels(const ScanTask& column, bool at_root) const {
  std::array<std::int64_t, 2 * (kMostBins + 1)> wide{};
  const int cells = column.value_bins + column.has_missing;
  if (layout_->one_word()) {
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
  const ScanResult best = kernels().scan_wide(ordered);
  ColumnSplit split{best.gain, static_cast<std::uint16_t>(best.bin), static_cast<MissingSide>(best.missing_side)};
  if (at_root) {  // with no side too light, the best neighbours are the best of all pairs of sets
    ordered.min_weight = 1.0;
    split.reach = at_least(kernels().scan_wide(ordered).gain);
  }
  return split;
}

void GroupSearch::finish(const Task& task, const Kept& kept, size_t group, AllGradients gradients,
                         std::span<ColumnSplit> splits, std::int64_t* scratch) {
  const Siblings& pair = *task.pair;
  const size_t words = layout_->group_words(group);
  std::int64_t* spare = scratch + layout_->most_group_words();
  std::int64_t* small = kept.small >= 0 ? histogram(kept.small, group) : spare;
  spare += layout_->most_group_words();
  std::int64_t* large = kept.large >= 0 ? histogram(kept.large, group) : spare;
  if (task.small.rows.count > 0) build(task.small, group, small, scratch);
  if (task.large.rows.count > 0) {
    build(task.large, group, large, scratch);
  } else if (task.large_wanted) {
    const std::int64_t* parent = histogram(kept.parent, group);
    for (size_t i = 0; i < words; ++i) large[i] = parent[i] - small[i];
  }
  auto row_of = [&](int slot) {
    return splits.data() + static_cast<size_t>(slot) * places() + layout_->lanes().first(group);
  };
  if (task.small_wanted) scan(pair.small, group, small, gradients, row_of(pair.small_slot));
  if (task.large_wanted) scan(pair.large, group, large, gradients, row_of(pair.large_slot));
}

void GroupSearch::prepare_scratch(Context& context) {
  scratch_.resize(static_cast<size_t>(context.threads()));
  for (auto& s : scratch_) s.resize(3 * layout_->most_group_words());
}

void GroupSearch::search(std::span<Siblings> level, Kept Siblings::* kept, std::span<const std::uint8_t> wanted,
                         bool deeper, OrderedRows& rows, AllGradients gradients, std::span<ColumnSplit> splits,
                         Context& context) {
  if (places() == 0) return;
  prepare_scratch(context);
  keep_histograms(level, kept, wanted, deeper);
  auto is_wanted = [&](int slot) { return slot >= 0 && wanted[static_cast<size_t>(slot)]; };
  std::vector<Task> tasks;
  double work = 0;
  for (auto& pair : level) {
    Task task{&pair, is_wanted(pair.small_slot), is_wanted(pair.large_slot), {}, {}};
    if (!task.small_wanted && !task.large_wanted) continue;
    const bool subtract = task.large_wanted && (pair.*kept).parent >= 0;
    if (task.small_wanted || subtract) task.small.rows = rows.of(pair.small, context);
    if (task.large_wanted && !subtract) task.large.rows = rows.of(pair.large, context);
    work += static_cast<double>((task.small.rows.count + task.large.rows.count) * places() + layout_->words());
    tasks.push_back(task);
  }
  if (tasks.empty()) return;
  build_in_parts(tasks, context);
  const size_t groups = layout_->lanes().groups.size();
  context.parallel_for(tasks.size() * groups, work, [&](size_t i, int thread) {
    const Task& task = tasks[i / groups];
    finish(task, (*task.pair).*kept, i % groups, gradients, splits, scratch_[static_cast<size_t>(thread)].data());
  });
}

// As many pieces at a time as there is memory for their cells.
void GroupSearch::search_pieces(std::span<Piece> pieces, OrderedRows& rows, AllGradients gradients, Context& context) {
  for (size_t begin = 0; begin < pieces.size();) {
    size_t end = begin, bytes = 0;
    while (end < pieces.size() && bytes < kPartsBytes)
      bytes += sizeof(std::int64_t) * whole_lines(layout_->group_words(pieces[end++].group));
    search_portion(pieces.subspan(begin, end - begin), rows, gradients, context);
    begin = end;
  }
}

void GroupSearch::search_portion(std::span<Piece> pieces, OrderedRows& rows, AllGradients gradients, Context& context) {
  if (pieces.empty()) return;
  prepare_scratch(context);
  struct Part {
    size_t piece;
    NodeRows rows;
    size_t at;  // where its cells lie
  };
  const size_t cut = std::max<size_t>(1, 4 * static_cast<size_t>(context.threads()) / pieces.size());
  std::vector<Part> parts;
  std::vector<size_t> first;  // part of each piece
  size_t words = 0;
  double work = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const NodeRows all = rows.of(*pieces[i].node, context);
    const size_t count = std::clamp<size_t>(all.count / kLeastPartRows, 1, context.threads() == 1 ? 1 : cut);
    first.push_back(parts.size());
    for (size_t p = 0; p < count; ++p) {
      parts.push_back({i, all.part(all.count * p / count, all.count * (p + 1) / count), words});
      words += whole_lines(layout_->group_words(pieces[i].group));
    }
    work += static_cast<double>(all.count * static_cast<size_t>(std::popcount(pieces[i].wanted)));
  }
  first.push_back(parts.size());
  parts_.resize(words);
  context.parallel_for(parts.size(), work, [&](size_t i, int thread) {
    const Piece& piece = pieces[parts[i].piece];
    layout_->build(parts[i].rows, piece.group, parts_.data() + parts[i].at,
                   scratch_[static_cast<size_t>(thread)].data(), piece.wanted);
  });
  context.parallel_for(pieces.size(), 1000.0 * static_cast<double>(pieces.size()), [&](size_t i, int) {
    std::int64_t* cells = parts_.data() + parts[first[i]].at;
    for (size_t p = first[i] + 1; p < first[i + 1]; ++p)
      for (size_t w = 0; w < layout_->group_words(pieces[i].group); ++w) cells[w] += parts_.data()[parts[p].at + w];
    scan(*pieces[i].node, pieces[i].group, cells, gradients, pieces[i].splits, pieces[i].wanted);
  });
}

}  // namespace frugal
