#include "data/threshold_finder.hpp"

#include <algorithm>
#include <cmath>

#include "support/limits.hpp"

namespace frugal {

std::vector<double> ColumnSummary::cuts(size_t max_bins) const {
  if (!few || few->too_many() || few->values().size() > max_bins) return summary.cuts(max_bins);
  std::vector<double> cuts;
  const auto values = few->values();
  for (size_t i = 0; i + 1 < values.size(); ++i) cuts.push_back(between(values[i], values[i + 1]));
  return cuts;
}

void ColumnValues::add(double value, std::int64_t unit, bool weighted) {
  if (value == 0) {
    zeros += unit;
  } else if (!std::isnan(value)) {
    values.push_back(value);
    if (weighted) units.push_back(unit);
  }
}

void ColumnValues::add_to(Summary& summary, Summary::Spare& spare) const {
  summary.add(values, units.empty() ? nullptr : units.data(), spare);
  summary.add(0.0, zeros);
}

std::array<size_t, kRowLevels> LevelledColumn::listed() const {
  std::array<size_t, kRowLevels> counts{};
  for (size_t l = 0; l < kRowLevels; ++l) counts[l] = levels_[l].values.size();
  return counts;
}

void LevelledColumn::forget_below(size_t level) {
  for (; least_ < level; ++least_) levels_[least_] = {};
}

Summary LevelledColumn::from(size_t level, size_t most_cells, Summary::Spare& spare) const {
  Summary summary(most_cells);
  for (size_t l = level; l < kRowLevels; ++l) levels_[l].add_to(summary, spare);
  return summary;
}

// Rows of a level that is not used now will never be: more rows can only raise the level.
void ThresholdFinder::forget(LevelledColumn& column) const {
  column.forget_below(rule_.level(rows(), column.listed()));
}

// Values are copied out first: several columns at a time, because a row-major table is read by cache lines, but only
// some columns and some rows, because the copy must be small compared with the table.
void ThresholdFinder::add(const Table& table, const RowLevels& levels, const std::int64_t* units, Context& context) {
  const size_t height = std::min(table.rows(), kSummaryRows);
  const size_t width = std::min(columns(), std::max(kSummaryColumns, kSummaryCells / std::max<size_t>(1, height)));
  std::vector<double> copy(height * width);
  seen_ += table.rows();
  for (size_t begin = 0; begin < table.rows(); begin += height) {
    const size_t n = std::min(height, table.rows() - begin);
    const std::int64_t* own = units ? units + begin : nullptr;
    for (size_t at = 0; at < columns(); at += width) {
      const size_t count = std::min(width, columns() - at);
      context.over_blocks(n, 512, real(count), [&](size_t from, size_t to, size_t) {
        for (size_t c = 0; c < count; ++c)
          table.read(first_ + at + c, begin + from, begin + to, copy.data() + c * n + from);
      });
      context.parallel_for(count, 5.0 * real(n * count), [&](size_t c, size_t) {
        LevelledColumn& column = columns_[at + c];
        const double* values = copy.data() + c * n;
        if (sampled()) column.few.add({values, n}, own);
        for (size_t i = 0; i < n; ++i)
          if (!own || own[i] > 0) column.add(levels.of[begin + i], values[i], own ? own[i] : 1, own != nullptr);
        forget(column);
      });
    }
  }
}

void ThresholdFinder::add(const SparseTable& table, const RowLevels& levels, const std::int64_t* units,
                          Context& context) {
  constexpr size_t kBlock = 64;
  seen_ += table.rows();
  const size_t values = table.begin_of(first_ + columns()) - table.begin_of(first_);
  const double work = 20.0 * real(values + columns());
  context.parallel_for((columns() + kBlock - 1) / kBlock, work, [&](size_t block, size_t) {
    std::vector<double> stored;
    std::vector<std::int64_t> stored_units;
    for (size_t c = block * kBlock; c < std::min(columns(), (block + 1) * kBlock); ++c) {
      LevelledColumn& column = columns_[c];
      std::array<std::int64_t, kRowLevels> rest = levels.weight;  // of rows that are zero
      stored.clear();
      stored_units.clear();
      table.each(first_ + c, [&](Row row, double value) {
        const std::int64_t unit = units ? units[row] : 1;
        rest[levels.of[row]] -= unit;
        stored.push_back(value);
        stored_units.push_back(unit);
        if (unit > 0) column.add(levels.of[row], value, unit, units != nullptr);
      });
      for (size_t l = 0; l < kRowLevels; ++l) column.add_zeros(l, rest[l]);
      if (sampled()) {
        column.few.add(stored, stored_units.data());
        if (std::any_of(rest.begin(), rest.end(), [](std::int64_t mass) { return mass > 0; })) column.few.add(0.0);
      }
      forget(column);
    }
  });
}

ColumnSummary ThresholdFinder::summary_of(size_t column, size_t level, Summary::Spare& spare) const {
  ColumnSummary out{columns_[column].from(level, most_cells_, spare), std::nullopt};
  if (level > 0) out.few = columns_[column].few;
  return out;
}

// Some columns at a time: the summaries of all of them may be larger than the table.
void ThresholdFinder::add_parts(Together& together) {
  if (together.alone()) return;
  constexpr size_t kWordsAtOnce = size_t{1} << 20, kWordsOfRow = 3, kMostAtOnce = 256;
  const size_t all_rows = index(sum_of(together, narrow<std::int64_t>(seen_), "rows of thresholds"));
  const size_t of_column = kWordsOfRow * std::min(all_rows, rule_.most) + 1;  // words of all parts together
  const size_t at_once = std::clamp<size_t>(kWordsAtOnce / of_column, 1, kMostAtOnce);
  Summary::Spare spare;
  for (size_t first = 0; first < columns(); first += at_once) {
    const size_t last = std::min(columns(), first + at_once);
    std::vector<std::int64_t> counts;
    for (size_t c = first; c < last; ++c)
      for (size_t listed : columns_[c].listed()) counts.push_back(narrow<std::int64_t>(listed));
    together.sum(counts, "values by level");
    std::vector<std::int64_t>
        own;  // for each column the length of its summary, the summary, and the same of few values
    auto append = [&](const std::vector<std::int64_t>& packed) {
      own.push_back(narrow<std::int64_t>(packed.size()));
      own.insert(own.end(), packed.begin(), packed.end());
    };
    for (size_t c = first; c < last; ++c) {
      std::array<size_t, kRowLevels> listed;
      for (size_t l = 0; l < kRowLevels; ++l) listed[l] = index(counts[(c - first) * kRowLevels + l]);
      of_parts_.push_back(summary_of(c, rule_.level(all_rows, listed), spare));
      append(of_parts_.back().summary.packed());
      append(of_parts_.back().few ? of_parts_.back().few->packed() : std::vector<std::int64_t>());
    }
    const auto all = gathered(together, own, "summaries of columns");
    for (size_t part = 0; part < all.size(); ++part) {
      if (part == together.part()) continue;
      std::span<const std::int64_t> rest = all[part];
      auto next = [&] {
        const size_t size = index(rest[0]);
        const auto packed = rest.subspan(1, size);
        rest = rest.subspan(1 + size);
        return packed;
      };
      for (size_t c = first; c < last; ++c) {
        of_parts_[c].summary.add_packed(next());
        const auto few = next();
        if (of_parts_[c].few) of_parts_[c].few->add(FewValues::unpacked(few));
      }
    }
  }
}

void ThresholdFinder::append_to(Thresholds& out, size_t max_bins, Context& context) const {
  std::vector<std::vector<double>> cuts(columns());
  std::vector<Summary::Spare> spare(context.threads());
  context.parallel_for(columns(), 20.0 * real(columns() * std::min(rows(), rule_.most)), [&](size_t c, size_t thread) {
    if (of_parts_.empty()) {
      const size_t level = rule_.level(rows(), columns_[c].listed());
      cuts[c] = summary_of(c, level, spare[thread]).cuts(max_bins);
    } else {
      cuts[c] = of_parts_[c].cuts(max_bins);
    }
  });
  for (const auto& column : cuts) out.add(column, false);
}

}  // namespace frugal
