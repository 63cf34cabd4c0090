#include "engine/cpu/group_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/cpu/constrained_scan.hpp"
#include "support/limits.hpp"
#include "support/mask.hpp"
#include "support/packed_cell.hpp"

namespace frugal {
namespace {

// The next larger float.
float at_least(double v) {
  using Limits = std::numeric_limits<float>;
  return v < double{Limits::max()} ? std::nextafter(static_cast<float>(v), Limits::infinity()) : Limits::infinity();
}

}  // namespace

void GroupSearch::use(const Lanes& lanes) {
  layout_ = std::make_unique<Histograms>(table_, lanes);
  pool_.clear();
  taken_.clear();
  kept_.clear();
  kept_before_.clear();
}

void GroupSearch::begin_level(const Level& level) {
  kept_before_ = std::move(kept_);
  kept_.assign(level.nodes.size(), kNone);
  std::fill(taken_.begin(), taken_.end(), 0);
  for (const Siblings& pair : level.pairs)
    if (const size_t slot = kept_of_parent(pair); slot != kNone) taken_[slot] = 1;
  for (const auto& [node, before] : level.waiting) {
    if (before >= kept_before_.size() || kept_before_[before] == kNone) continue;
    kept_[node] = kept_before_[before];
    taken_[kept_[node]] = 1;
  }
}

// A free histogram of the pool, or kNone if the pool is full.
size_t GroupSearch::take_histogram() {
  size_t slot = 0;
  while (slot < taken_.size() && taken_[slot]) ++slot;
  if (slot == taken_.size()) {
    if ((pool_.size() + 1) * layout_->words() * sizeof(std::int64_t) > kHistogramPoolBytes) return kNone;
    pool_.emplace_back(layout_->words());
    taken_.push_back(0);
  }
  taken_[slot] = 1;
  return slot;
}

// The histograms that the wanted nodes need. The larger sibling overwrites its parent's histogram, from which the
// smaller one is subtracted.
std::vector<GroupSearch::Task> GroupSearch::tasks_of(const Level& level, std::span<const std::uint8_t> wanted,
                                                     bool deeper, OrderedRows& rows, Context& context) {
  std::vector<Task> tasks;
  for (const Siblings& pair : level.pairs) {
    Task task{&pair, wanted[pair.small] != 0, pair.large != kNone && wanted[pair.large], {}, {}, kNone, kNone, kNone};
    if (!task.small_wanted && !task.large_wanted) continue;
    task.parent_slot = kept_of_parent(pair);
    const bool subtract = task.large_wanted && task.parent_slot != kNone;
    task.small.needed = task.small_wanted || subtract;
    task.large.needed = task.large_wanted && !subtract;
    if (task.small.needed) task.small.rows = rows.of(level.nodes[pair.small], context);
    if (task.large.needed) task.large.rows = rows.of(level.nodes[pair.large], context);
    if (deeper && task.small_wanted) kept_[pair.small] = task.small_slot = take_histogram();
    if (deeper && task.large_wanted) {
      kept_[pair.large] = task.large_slot = subtract ? task.parent_slot : take_histogram();
      if (subtract) kept_before_[pair.parent] = kNone;  // it will be overwritten
    }
    tasks.push_back(task);
  }
  return tasks;
}

// The number of ranges of rows that the table is cut into; 1: it is not cut.
size_t GroupSearch::ranges(std::span<Build* const> builds, size_t threads) const {
  size_t rows = 0;
  for (const Build* build : builds) rows += build->rows.count;
  const size_t table = layout_->lanes().rows, least = table / kMostCounted + 1;
  const size_t groups = layout_->lanes().groups.size();
  const bool busy = builds.size() * groups >= 4 * threads;
  if (table < kBlockedRows && (threads == 1 || busy)) return 1;
  const size_t most = rows / std::max<size_t>(1, builds.size() * kLeastPartRows);
  const size_t fit = kPartsBytes / (sizeof(std::int64_t) * layout_->part_words() * builds.size());
  const size_t wanted = std::min({std::max(least, 4 * threads), most, fit});
  return wanted < std::max<size_t>(least, 2) ? 1 : wanted;
}

// The cells of one range of the table's rows, a block of rows at a time: its bins are read into the cache once, for all
// nodes.
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

std::vector<GroupSearch::Build*> GroupSearch::builds_of(std::vector<Task>& tasks) {
  std::vector<Build*> builds;
  for (auto& task : tasks)
    for (Build* build : {&task.small, &task.large})
      if (build->needed) builds.push_back(build);
  return builds;
}

void GroupSearch::build_in_parts(std::span<Build* const> builds, Context& context) {
  const size_t parts = builds.empty() ? 1 : ranges(builds, context.threads());
  if (parts == 1) return;
  for (size_t i = 0; i < builds.size(); ++i) {
    builds[i]->parts = parts;
    builds[i]->at = i * parts * layout_->part_words();
  }
  parts_.resize(builds.size() * parts * layout_->part_words());
  const size_t rows = layout_->lanes().rows;
  context.parallel_for(parts, 1e9,
                       [&](size_t p, size_t) { build_range(builds, p, rows * p / parts, rows * (p + 1) / parts); });
}

// For a table in parts: sums all histograms over the parts, in one message.
void GroupSearch::add_up_parts(std::span<Build* const> builds, Context& context) {
  if (context.together().alone()) return;
  const size_t groups = layout_->lanes().groups.size(), words = layout_->words();
  summed_.resize(builds.size() * words);
  context.parallel_for(builds.size() * groups, 1e9, [&](size_t i, size_t thread) {
    build(*builds[i / groups], i % groups, summed_.data() + i / groups * words + layout_->group_begin(i % groups),
          scratch_[thread].data());
  });
  context.together().sum({summed_.data(), builds.size() * words}, "histograms");
  for (size_t i = 0; i < builds.size(); ++i) {
    builds[i]->parts = 0;
    builds[i]->at = i * words;
  }
}

void GroupSearch::build(const Build& build, size_t group, std::int64_t* cells, std::int64_t* scratch) const {
  const size_t words = layout_->group_words(group);
  if (build.parts == 0) {
    std::copy_n(summed_.data() + build.at + layout_->group_begin(group), words, cells);
    return;
  }
  if (build.parts == 1) return layout_->build(build.rows, group, cells, scratch);
  std::fill_n(cells, words, 0);
  for (size_t part = 0; part < build.parts; ++part)
    layout_->add_part(parts_.data() + build.at + part * layout_->part_words(), group, cells);
}

void GroupSearch::scan(const OpenNode& node, size_t group, const std::int64_t* cells, AllGradients gradients,
                       ColumnSplit* out, std::uint8_t wanted) const {
  const double factor = gradients[node.output].gain_factor(weights_, node.sums.weight);
  const bool at_root = node.sums.weight == weights_.total, limited = node.range.limited();
  const auto scan_column = layout_->one_word() ? kernels().scan_packed : kernels().scan_wide;
  for (size_t lane = 0; lane < layout_->lanes().width(group); ++lane) {
    if (!has_bit(wanted, lane)) continue;
    const size_t place = layout_->lanes().first(group) + lane, c = column(place);
    const ScanTask task{cells + layout_->column_begin(place) - layout_->group_begin(group),
                        table_.columns[c].bins,
                        table_.columns[c].missing,
                        node.sums.gradient,
                        node.sums.weight,
                        min_weight_,
                        factor};
    if (table_.columns[c].categorical) {
      out[lane] = scan_levels(task, node.range, at_root);
      continue;
    }
    const std::int8_t trend = table_.columns[c].trend;
    const ScanResult best =
        limited || trend != 0 ? constrained_scan(task, layout_->one_word(), trend, node.range) : scan_column(task);
    out[lane] = {best.gain, best.bin, best.missing};
  }
}

// The same scan for a categorical column: over groups of levels in the order of their mean gradient, instead of bins.
ColumnSplit GroupSearch::scan_levels(const ScanTask& column, const ValueRange& range, bool at_root) const {
  std::array<std::int64_t, 2 * (kMostBins + 1)> wide{};
  const size_t bins = index(column.value_bins), cells = bins + column.has_missing;
  if (layout_->one_word()) {
    for (size_t b = 0; b < cells; ++b) {
      wide[2 * b] = packed_gradient(column.cells[b]);
      wide[2 * b + 1] = packed_count(column.cells[b]);
    }
  } else {
    std::copy_n(column.cells, 2 * cells, wide.begin());
  }
  LevelGroups groups(wide.data(), narrow<Bin>(bins), min_weight_);
  if (column.has_missing) std::copy_n(wide.data() + 2 * bins, 2, groups.cells.data() + 2 * groups.count);
  ScanTask ordered = column;
  ordered.cells = groups.cells.data();
  ordered.value_bins = groups.count;
  const ScanResult best = range.limited() ? constrained_scan(ordered, false, 0, range) : kernels().scan_wide(ordered);
  ColumnSplit split{best.gain, best.bin, best.missing};
  if (at_root) {  // without a minimum weight, the best split between neighbours is the best of all pairs of sets
    ordered.min_weight = 1.0;
    split.reach = at_least(kernels().scan_wide(ordered).gain);
  }
  return split;
}

void GroupSearch::finish(const Task& task, const Level& level, size_t group, AllGradients gradients,
                         std::span<ColumnSplit> splits, std::int64_t* scratch) {
  const size_t words = layout_->group_words(group);
  std::int64_t* spare = scratch + layout_->most_group_words();
  std::int64_t* small = task.small_slot != kNone ? histogram(task.small_slot, group) : spare;
  spare += layout_->most_group_words();
  std::int64_t* large = task.large_slot != kNone ? histogram(task.large_slot, group) : spare;
  if (task.small.needed) build(task.small, group, small, scratch);
  if (task.large.needed) {
    build(task.large, group, large, scratch);
  } else if (task.large_wanted) {
    const std::int64_t* parent = histogram(task.parent_slot, group);
    for (size_t i = 0; i < words; ++i) large[i] = parent[i] - small[i];
  }
  auto scan_node = [&](size_t node, const std::int64_t* cells) {
    scan(level.nodes[node], group, cells, gradients, splits.data() + node * places() + layout_->lanes().first(group));
  };
  if (task.small_wanted) scan_node(task.pair->small, small);
  if (task.large_wanted) scan_node(task.pair->large, large);
}

void GroupSearch::prepare_scratch(Context& context) {
  scratch_.resize(context.threads());
  for (auto& s : scratch_) s.resize(3 * layout_->most_group_words());
}

void GroupSearch::search(const Level& level, std::span<const std::uint8_t> wanted, bool deeper, OrderedRows& rows,
                         AllGradients gradients, std::span<ColumnSplit> splits, Context& context) {
  if (places() == 0) return;
  prepare_scratch(context);
  std::vector<Task> tasks = tasks_of(level, wanted, deeper, rows, context);
  if (tasks.empty()) return;
  double work = 0;
  for (const Task& task : tasks)
    work += real((task.small.rows.count + task.large.rows.count) * places() + layout_->words());
  const std::vector<Build*> builds = builds_of(tasks);
  build_in_parts(builds, context);
  add_up_parts(builds, context);
  const size_t groups = layout_->lanes().groups.size();
  context.parallel_for(tasks.size() * groups, work, [&](size_t i, size_t thread) {
    finish(tasks[i / groups], level, i % groups, gradients, splits, scratch_[thread].data());
  });
}

// As many pieces at a time as kPartsBytes has room for.
void GroupSearch::search_pieces(std::span<const GroupPiece> pieces, OrderedRows& rows, AllGradients gradients,
                                Context& context) {
  for (size_t begin = 0; begin < pieces.size();) {
    size_t end = begin, bytes = 0;
    while (end < pieces.size() && bytes < kPartsBytes)
      bytes += sizeof(std::int64_t) * whole_lines(layout_->group_words(pieces[end++].group));
    search_portion(pieces.subspan(begin, end - begin), rows, gradients, context);
    begin = end;
  }
}

// The first parts of all pieces come first, in one contiguous piece of memory: all others are added to them, and they
// are summed over the parts of the table in one message.
GroupSearch::PieceParts GroupSearch::cut(std::span<const GroupPiece> pieces, OrderedRows& rows,
                                         Context& context) const {
  PieceParts out;
  auto add = [&](size_t piece, const NodeRows& own) {
    out.parts.push_back({piece, own, out.words});
    out.words += whole_lines(layout_->group_words(pieces[piece].group));
  };
  const size_t threads = context.threads(), most = std::max<size_t>(1, 4 * threads / pieces.size());
  std::vector<NodeRows> all;
  std::vector<size_t> count;
  for (size_t i = 0; i < pieces.size(); ++i) {
    all.push_back(rows.of(*pieces[i].node, context));
    count.push_back(std::clamp<size_t>(all[i].count / kLeastPartRows, 1, threads == 1 ? 1 : most));
    add(i, all[i].part(0, all[i].count / count[i]));
    out.work += real(all[i].count * count_bits(pieces[i].wanted));
  }
  out.first_words = out.words;
  for (size_t i = 0; i < pieces.size(); ++i) {
    out.others.push_back(out.parts.size());
    for (size_t p = 1; p < count[i]; ++p)
      add(i, all[i].part(all[i].count * p / count[i], all[i].count * (p + 1) / count[i]));
  }
  out.others.push_back(out.parts.size());
  return out;
}

// Adds the other parts of a piece to its first one.
void GroupSearch::add_up(const PieceParts& cut, size_t piece, size_t group) {
  std::int64_t* cells = parts_.data() + cut.parts[piece].at;
  for (size_t p = cut.others[piece]; p < cut.others[piece + 1]; ++p) {
    const std::int64_t* more = parts_.data() + cut.parts[p].at;
    for (size_t w = 0; w < layout_->group_words(group); ++w) cells[w] += more[w];
  }
}

void GroupSearch::search_portion(std::span<const GroupPiece> pieces, OrderedRows& rows, AllGradients gradients,
                                 Context& context) {
  prepare_scratch(context);
  const PieceParts cut = this->cut(pieces, rows, context);
  parts_.resize(cut.words);
  context.parallel_for(cut.parts.size(), cut.work, [&](size_t i, size_t thread) {
    const PieceParts::Part& part = cut.parts[i];
    const GroupPiece& piece = pieces[part.piece];
    layout_->build(part.rows, piece.group, parts_.data() + part.at, scratch_[thread].data(), piece.wanted);
  });
  const bool alone = context.together().alone();
  if (!alone) {
    for (size_t i = 0; i < pieces.size(); ++i) add_up(cut, i, pieces[i].group);
    context.together().sum({parts_.data(), cut.first_words}, "histograms of pieces");
  }
  context.parallel_for(pieces.size(), 1000.0 * real(pieces.size()), [&](size_t i, size_t) {
    const GroupPiece& piece = pieces[i];
    if (alone) add_up(cut, i, piece.group);
    scan(*piece.node, piece.group, parts_.data() + cut.parts[i].at, gradients, piece.splits, piece.wanted);
  });
}

}  // namespace frugal
