#include "data/thresholds.hpp"

#include <algorithm>
#include <numeric>

#include "data/few_values.hpp"
#include "data/threshold_finder.hpp"
#include "support/limits.hpp"

namespace frugal {

void Thresholds::add(std::span<const double> column, bool is_categorical) {
  cuts.insert(cuts.end(), column.begin(), column.end());
  offsets.push_back(cuts.size());
  categorical.push_back(is_categorical);
}

Thresholds Thresholds::take(std::span<const size_t> chosen) const {
  Thresholds taken;
  for (size_t c : chosen) {
    taken.add(of(c), categorical[c]);
    if (scores.empty()) continue;
    const auto own = scores_of(c);
    taken.scores.insert(taken.scores.end(), own.begin(), own.end());
  }
  return taken;
}

namespace {

// Rows of a table in memory by their level, those above the highest with it.
std::vector<std::vector<Row>> rows_by_level(size_t rows, size_t highest) {
  std::vector<std::vector<Row>> out(highest + 1);
  for (size_t level = 0; level <= highest; ++level) out[level].reserve((rows >> level) + (rows >> (level + 4)));
  for (size_t r = 0; r < rows; ++r) out[level_of_row(r, highest)].push_back(narrow<Row>(r));
  return out;
}

// Memory that is reused for the next columns.
struct Workspace {
  explicit Workspace(size_t threads) : spare(threads) {}
  std::vector<double> copy;
  std::vector<Summary::Spare> spare;
};

// Columns of a dense table side by side, from `first` on: the sampled values of each, gathered level by level from the
// highest down until there are enough.
class SideBySide {
 public:
  SideBySide(const Table& table, size_t first, size_t columns, const std::int64_t* units, size_t most_cells,
             Workspace& workspace)
      : table_(table), first_(first), units_(units), workspace_(workspace), columns_(columns) {
    for (Gathered& column : columns_) column.found.summary = Summary(most_cells);
  }

  // Adds these rows to the columns that do not have enough yet, and says whether there are any. `last`: none are left.
  bool add(std::span<const Row> rows, size_t enough, bool last, Context& context);
  void add_all(Context& context);
  void check_few(size_t max_bins, Context& context);
  void append_to(Thresholds& out, size_t max_bins) const {
    for (const Gathered& column : columns_) out.add(column.found.cuts(max_bins), false);
  }

 private:
  struct Gathered {
    ColumnSummary found{Summary(2), std::nullopt};
    size_t listed = 0;
    bool all_rows = false;
  };
  void summarise(std::span<const size_t> open, size_t rows, const std::int64_t* units, Context& context);
  double* room_for(size_t values) {
    if (workspace_.copy.size() < values) workspace_.copy.resize(values);
    return workspace_.copy.data();
  }
  std::span<const double> read(size_t c, size_t begin, size_t end, double* out) const {
    table_.read(first_ + c, begin, end, out);
    return {out, end - begin};
  }

  const Table& table_;
  size_t first_;
  const std::int64_t* units_;
  Workspace& workspace_;
  std::vector<Gathered> columns_;
};

// Values are copied out before they are sorted: several columns at a time, because a row-major table is read by cache
// lines.
bool SideBySide::add(std::span<const Row> rows, size_t enough, bool last, Context& context) {
  std::vector<size_t> open;
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].listed >= enough) continue;
    columns_[c].all_rows = last;
    open.push_back(c);
  }
  if (open.empty()) return false;
  double* copy = room_for(open.size() * rows.size());
  context.over_blocks(rows.size(), 256, real(open.size()), [&](size_t from, size_t to, size_t) {
    for (size_t i = 0; i < open.size(); ++i)
      table_.column(first_ + open[i]).gather(rows.subspan(from, to - from), copy + i * rows.size() + from);
  });
  std::vector<std::int64_t> units;
  for (size_t i = 0; units_ && i < rows.size(); ++i) units.push_back(units_[rows[i]]);
  summarise(open, rows.size(), units_ ? units.data() : nullptr, context);
  return true;
}

void SideBySide::add_all(Context& context) {
  const size_t n = table_.rows();
  double* copy = room_for(columns_.size() * n);
  context.over_blocks(n, 512, real(columns_.size()), [&](size_t from, size_t to, size_t) {
    for (size_t c = 0; c < columns_.size(); ++c) read(c, from, to, copy + c * n + from);
  });
  std::vector<size_t> all(columns_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  summarise(all, n, units_, context);
}

void SideBySide::summarise(std::span<const size_t> open, size_t rows, const std::int64_t* units, Context& context) {
  context.parallel_for(open.size(), 10.0 * real(rows * open.size()), [&](size_t i, size_t thread) {
    Gathered& column = columns_[open[i]];
    const std::span<const double> values(workspace_.copy.data() + i * rows, rows);
    column.found.summary.add(values, units, workspace_.spare[thread]);
    for (size_t r = 0; r < rows; ++r) {
      const bool listed = values[r] < 0 || values[r] > 0;
      column.listed += listed && (!units || units[r] > 0);
    }
  });
}

// Where the sample shows few values, all rows are looked at for more. As a rule there are none, which is seen in a pass
// over the rows of all columns.
void SideBySide::check_few(size_t max_bins, Context& context) {
  std::vector<size_t> columns;
  for (size_t c = 0; c < columns_.size(); ++c) {
    auto few = columns_[c].found.summary.distinct(max_bins);
    if (columns_[c].all_rows || !few) continue;
    columns_[c].found.few = FewValues(std::move(*few));
    columns.push_back(c);
  }
  if (columns.empty()) return;
  constexpr size_t kBlock = 4096, kRows = 512;
  const size_t n = table_.rows();
  std::vector<std::uint8_t> may_have_more((n + kBlock - 1) / kBlock * columns.size());
  context.over_blocks(n, kBlock, 3.0 * real(columns.size()), [&](size_t begin, size_t end, size_t block) {
    double values[kRows];
    for (size_t at = begin; at < end; at += kRows)
      for (size_t i = 0; i < columns.size(); ++i)
        may_have_more[block * columns.size() + i] |=
            columns_[columns[i]].found.few->any_new(read(columns[i], at, std::min(end, at + kRows), values));
  });
  context.parallel_for(columns.size(), real(n * columns.size()), [&](size_t i, size_t) {
    double values[kRows];
    FewValues& few = *columns_[columns[i]].found.few;
    for (size_t at = 0; at < n && !few.too_many(); at += kRows)
      if (may_have_more[at / kBlock * columns.size() + i])
        few.add(read(columns[i], at, std::min(n, at + kRows), values), units_ ? units_ + at : nullptr);
  });
}

}  // namespace

Thresholds thresholds_of(const Table& table, const std::int64_t* units, size_t max_bins, size_t most_cells,
                         SampleRule rule, Context& context) {
  const size_t highest = rule.level(table.rows());
  const size_t width =
      std::max(std::max(kSummaryColumns, context.threads()), kSummaryCells / std::max<size_t>(1, table.rows()));
  const auto rows = highest > 0 ? rows_by_level(table.rows(), highest) : std::vector<std::vector<Row>>();
  Workspace workspace(context.threads());
  Thresholds out;
  for (size_t first = 0; first < table.columns(); first += width) {
    SideBySide some(table, first, std::min(width, table.columns() - first), units, most_cells, workspace);
    if (highest == 0) {
      some.add_all(context);
    } else {
      size_t level = highest + 1;
      while (level > 0 && some.add(rows[level - 1], rule.enough(), level == 1, context)) --level;
      some.check_few(max_bins, context);
    }
    some.append_to(out, max_bins);
  }
  return out;
}

Thresholds thresholds_of(const SparseTable& table, const std::int64_t* units, size_t max_bins, size_t most_cells,
                         SampleRule rule, Context& context) {
  const size_t width = std::max(kSummaryColumns, kSummaryCells / std::max<size_t>(1, table.rows()));
  const RowLevels levels(table.rows(), [](size_t r) { return r; }, units, rule.level(table.rows()));
  Thresholds out;
  for (size_t first = 0; first < table.columns(); first += width) {
    ThresholdFinder some(std::min(width, table.columns() - first), most_cells, rule, table.rows(), first);
    some.add(table, levels, units, context);
    some.append_to(out, max_bins, context);
  }
  return out;
}

}  // namespace frugal
