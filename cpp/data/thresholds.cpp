#include "data/thresholds.hpp"

#include <algorithm>

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

// How many columns of this many rows are summarised together.
size_t summarised_at_once(size_t rows) {
  return std::max(kSummaryColumns, kSummaryCells / std::max<size_t>(1, rows));
}

}  // namespace

// Values are copied out before they are sorted: several columns at a time, because a row-major table is read by cache
// lines, but only some columns and some rows, because the copy must be small compared with the table.
void ThresholdFinder::add(const Table& table, const std::int64_t* units, Context& context) {
  const size_t height = std::min(table.rows(), kSummaryRows), width = std::min(columns(), summarised_at_once(height));
  std::vector<double> copy(height * width);
  std::vector<Summary::Spare> spare(context.threads());
  for (size_t begin = 0; begin < table.rows(); begin += height) {
    const size_t n = std::min(height, table.rows() - begin);
    for (size_t at = 0; at < columns(); at += width) {
      const size_t count = std::min(width, columns() - at);
      context.over_blocks(n, 512, real(count), [&](size_t from, size_t to, size_t) {
        for (size_t c = 0; c < count; ++c)
          table.read(first_ + at + c, begin + from, begin + to, copy.data() + c * n + from);
      });
      context.parallel_for(count, 20.0 * real(n * count), [&](size_t c, size_t thread) {
        summaries_[at + c].add({copy.data() + c * n, n}, units ? units + begin : nullptr, spare[thread]);
      });
    }
  }
}

void ThresholdFinder::add(const SparseTable& table, const std::int64_t* units, Context& context) {
  std::int64_t total = 0;
  for (size_t r = 0; r < table.rows(); ++r) total += units ? units[r] : 1;
  struct Stored {
    Summary::Spare spare;
    std::vector<double> values;
    std::vector<std::int64_t> units;
  };
  std::vector<Stored> stored(context.threads());
  constexpr size_t kBlock = 64;
  const size_t values = table.begin_of(first_ + columns()) - table.begin_of(first_);
  const double work = 20.0 * real(values + columns());
  context.parallel_for((columns() + kBlock - 1) / kBlock, work, [&](size_t block, size_t thread) {
    Stored& s = stored[thread];
    for (size_t c = block * kBlock; c < std::min(columns(), (block + 1) * kBlock); ++c) {
      s.values.clear();
      s.units.clear();
      std::int64_t rest = total;  // the weight of rows that are zero
      table.each(first_ + c, [&](Row row, double value) {
        s.values.push_back(value);
        if (units) s.units.push_back(units[row]);
        rest -= units ? units[row] : 1;
      });
      summaries_[c].add(s.values, units ? s.units.data() : nullptr, s.spare);
      summaries_[c].add(0.0, rest);
    }
  });
}

// Some columns at a time: the summaries of all of them may be larger than the table.
void ThresholdFinder::add_parts(Together& together) {
  if (together.alone()) return;
  constexpr size_t kAtOnce = 64;
  for (size_t first = 0; first < columns(); first += kAtOnce) {
    const size_t last = std::min(columns(), first + kAtOnce);
    std::vector<std::int64_t> own;  // for each column the length of its summary, and the summary
    for (size_t c = first; c < last; ++c) {
      const auto packed = summaries_[c].packed();
      own.push_back(narrow<std::int64_t>(packed.size()));
      own.insert(own.end(), packed.begin(), packed.end());
    }
    const auto all = gathered(together, own, "summaries of columns");
    for (size_t part = 0; part < all.size(); ++part) {
      if (part == together.part()) continue;
      std::span<const std::int64_t> rest = all[part];
      for (size_t c = first; c < last; ++c) {
        const size_t size = index(rest[0]);
        summaries_[c].add_packed(rest.subspan(1, size));
        rest = rest.subspan(1 + size);
      }
    }
  }
}

void ThresholdFinder::append_to(Thresholds& out, size_t max_bins, Context& context) const {
  std::vector<std::vector<double>> cuts(columns());
  context.over_blocks(columns(), 16, 1000.0, [&](size_t begin, size_t end, size_t) {
    for (size_t c = begin; c < end; ++c) cuts[c] = summaries_[c].cuts(max_bins);
  });
  for (const auto& column : cuts) out.add(column, false);
}

template <class AnyTable>
Thresholds thresholds_of(const AnyTable& table, const std::int64_t* units, size_t max_bins, size_t most_cells,
                         Context& context) {
  const size_t width = summarised_at_once(table.rows());
  Thresholds out;
  for (size_t first = 0; first < table.columns(); first += width) {
    ThresholdFinder some(std::min(width, table.columns() - first), most_cells, first);
    some.add(table, units, context);
    some.append_to(out, max_bins, context);
  }
  return out;
}

template Thresholds thresholds_of(const Table&, const std::int64_t*, size_t, size_t, Context&);
template Thresholds thresholds_of(const SparseTable&, const std::int64_t*, size_t, size_t, Context&);

}  // namespace frugal
