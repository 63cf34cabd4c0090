#include "binning.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "limits.hpp"

namespace frugal {
namespace {

struct ValueMass {
  double value;
  std::int64_t mass;
};

struct ColumnCuts {
  std::vector<double> cuts;
  bool has_missing = false;
};

// A threshold that separates a < b: the middle, or a itself where no number lies between.
double between(double a, double b) {
  double middle = 0.5 * a + 0.5 * b;
  return a <= middle && middle < b ? middle : a;
}

// Indices of the last value of every bin but the last. A value heavier than a bin stands alone, and the
// others share the remaining bins evenly.
std::vector<size_t> equal_weight_bins(const std::vector<ValueMass>& values, int max_bins) {
  std::int64_t total = 0;
  for (const auto& v : values) total += v.mass;
  auto heavy = [&](size_t i) { return static_cast<double>(values[i].mass) * max_bins >= static_cast<double>(total); };
  std::int64_t light_left = 0, inside = 0;
  int light_bins = max_bins;
  for (size_t i = 0; i < values.size(); ++i) {
    if (heavy(i)) {
      --light_bins;
    } else {
      light_left += values[i].mass;
    }
  }
  light_bins = std::max(light_bins, 1);
  std::vector<size_t> ends;
  for (size_t i = 0; i + 1 < values.size() && ends.size() + 1 < static_cast<size_t>(max_bins); ++i) {
    inside += values[i].mass;
    double aim = static_cast<double>(light_left) / light_bins;
    double have = static_cast<double>(inside);
    if (!(heavy(i) || have >= aim || (heavy(i + 1) && have >= 0.5 * aim))) continue;
    ends.push_back(i);
    light_left -= heavy(i) ? inside - values[i].mass : inside;
    if (!heavy(i)) light_bins = std::max(light_bins - 1, 1);
    inside = 0;
  }
  return ends;
}

std::vector<double> cuts_between(const std::vector<ValueMass>& values, int max_bins) {
  std::vector<double> cuts;
  if (values.size() <= static_cast<size_t>(max_bins)) {
    for (size_t i = 0; i + 1 < values.size(); ++i) cuts.push_back(between(values[i].value, values[i + 1].value));
  } else {
    for (size_t i : equal_weight_bins(values, max_bins)) cuts.push_back(between(values[i].value, values[i + 1].value));
  }
  return cuts;
}

// Sorts by eleven bits at a time, lowest first; digits that all values share are skipped, so numbers that were float32
// take half the passes. About four times as fast as std::sort on a million values.
void radix_sort(std::span<double> values, std::vector<std::uint64_t>& spare) {
  constexpr int kBits = 11, kDigits = 6, kBuckets = 1 << kBits;
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const size_t n = values.size();
  spare.resize(2 * n);
  std::vector<size_t> counts(kDigits * kBuckets);
  std::uint64_t *keys = spare.data(), *other = spare.data() + n;
  for (size_t i = 0; i < n; ++i) {  // integers that order like the numbers
    const auto bits = std::bit_cast<std::uint64_t>(values[i]);
    keys[i] = bits & kSign ? ~bits : bits | kSign;
    for (int d = 0; d < kDigits; ++d) ++counts[d * kBuckets + ((keys[i] >> (d * kBits)) & (kBuckets - 1))];
  }
  for (int d = 0; d < kDigits; ++d) {
    size_t* count = counts.data() + d * kBuckets;
    if (count[(keys[0] >> (d * kBits)) & (kBuckets - 1)] == n) continue;
    size_t at = 0;
    for (int b = 0; b < kBuckets; ++b) at += std::exchange(count[b], at);
    for (size_t i = 0; i < n; ++i) other[count[(keys[i] >> (d * kBits)) & (kBuckets - 1)]++] = keys[i];
    std::swap(keys, other);
  }
  for (size_t i = 0; i < n; ++i) values[i] = std::bit_cast<double>(keys[i] & kSign ? keys[i] ^ kSign : ~keys[i]);
}

// Sorts `column` in place (missing values last) and merges equal values.
ColumnCuts cuts_of(std::span<double> column, int max_bins, std::vector<std::uint64_t>& spare) {
  auto present = std::partition(column.begin(), column.end(), [](double v) { return !std::isnan(v); });
  if (static_cast<size_t>(present - column.begin()) > kRadixSortRows) {
    radix_sort({column.begin(), present}, spare);
  } else {
    std::sort(column.begin(), present);
  }
  std::vector<ValueMass> distinct;
  for (auto v = column.begin(); v != present; ++v) {
    if (!distinct.empty() && distinct.back().value == *v) {
      ++distinct.back().mass;
    } else {
      distinct.push_back({*v, 1});
    }
  }
  return {cuts_between(distinct, max_bins), present != column.end()};
}

ColumnCuts weighted_cuts_of(std::span<const double> column, const Weights& weights, int max_bins) {
  std::vector<ValueMass> pairs;
  pairs.reserve(column.size());
  bool missing = false;
  for (size_t i = 0; i < column.size(); ++i) {
    if (std::isnan(column[i])) {
      missing = true;
    } else if (weights.units[i] > 0) {
      pairs.push_back({column[i], weights.units[i]});
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  size_t kept = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (kept > 0 && pairs[kept - 1].value == pairs[i].value) {
      pairs[kept - 1].mass += pairs[i].mass;
    } else {
      pairs[kept++] = pairs[i];
    }
  }
  pairs.resize(kept);
  return {cuts_between(pairs, max_bins), missing};
}

// How many columns are copied out at a time: some, because a row-major table is read by cache lines; few,
// because the copy must stay small beside the table.
size_t columns_at_once(size_t rows) {
  constexpr size_t kBytes = size_t{32} << 20;
  return std::clamp<size_t>(kBytes / (8 * rows + 1), 4, 64);
}

}  // namespace

Thresholds find_thresholds(const Table& table, const Weights& weights, int max_bins, Context& context) {
  const size_t n = table.rows;
  const size_t width = columns_at_once(n);
  std::vector<double> copy(n * std::min(width, table.columns));
  std::vector<std::vector<std::uint64_t>> spare(static_cast<size_t>(context.threads()));
  std::vector<ColumnCuts> found(table.columns);
  table.read([&](auto cell) {
    for (size_t first = 0; first < table.columns; first += width) {
      const size_t count = std::min(width, table.columns - first);
      context.over_blocks(n, 2048, static_cast<double>(count), [&](size_t begin, size_t end, size_t) {
        for (size_t r = begin; r < end; ++r)
          for (size_t c = 0; c < count; ++c) copy[c * n + r] = cell(r, first + c) + 0.0;  // no -0.0
      });
      context.parallel_for(count, 20.0 * static_cast<double>(n * count), [&](size_t c, int thread) {
        std::span<double> column(copy.data() + c * n, n);
        found[first + c] = weights.uniform() ? cuts_of(column, max_bins, spare[static_cast<size_t>(thread)])
                                             : weighted_cuts_of(column, weights, max_bins);
      });
    }
  });
  Thresholds out;
  for (const auto& column : found) {
    out.cuts.insert(out.cuts.end(), column.cuts.begin(), column.cuts.end());
    out.offsets.push_back(static_cast<std::int64_t>(out.cuts.size()));
    out.has_missing.push_back(column.has_missing);
  }
  return out;
}

namespace {

// First b with v <= cuts[b]; a branch-free binary search, since bins are hard to predict.
inline std::uint8_t bin_of(double v, const double* cuts, size_t count) {
  if (std::isnan(v)) return static_cast<std::uint8_t>(count + 1);
  if (count == 0) return 0;
  const double* base = cuts;
  while (count > 1) {
    size_t half = count / 2;
    base += half & -static_cast<size_t>(base[half - 1] < v);
    count -= half;
  }
  return static_cast<std::uint8_t>(base - cuts + (*base < v));
}

}  // namespace

BinnedMatrix::BinnedMatrix(const Table& table, const Thresholds& thresholds, Context& context)
    : rows_(table.rows), columns_(table.columns), has_missing_(table.columns) {
  bins_.resize(groups() * kLanes * rows_);
  for (size_t c = 0; c < columns_; ++c) value_bins_.push_back(static_cast<int>(thresholds.of(c).size()) + 1);
  table.read([&](auto cell) {
    constexpr size_t kBlock = 1024;
    std::vector<std::uint8_t> missing_in_block((rows_ + kBlock - 1) / kBlock * columns_);
    context.over_blocks(rows_, kBlock, 20.0 * static_cast<double>(columns_),
                        [&](size_t begin, size_t end, size_t block) {
                          for (size_t c = 0; c < columns_; ++c) {
                            auto cuts = thresholds.of(c);
                            const auto missing = static_cast<std::uint8_t>(cuts.size() + 1);
                            std::uint8_t* out = bins_.data() + (c / kLanes) * kLanes * rows_ + c % kLanes;
                            bool any_missing = false;
                            for (size_t r = begin; r < end; ++r) {
                              out[r * kLanes] = bin_of(cell(r, c), cuts.data(), cuts.size());
                              any_missing |= out[r * kLanes] == missing;
                            }
                            missing_in_block[block * columns_ + c] = any_missing;
                          }
                        });
    // From these rows, not from those the thresholds were found on: a continued fit may bring the first missing value.
    for (size_t i = 0; i < missing_in_block.size(); ++i) has_missing_[i % columns_] |= missing_in_block[i];
  });
}

Thresholds Thresholds::take(std::span<const std::int64_t> chosen) const {
  Thresholds taken;
  for (std::int64_t c : chosen) {
    auto column = of(static_cast<size_t>(c));
    taken.cuts.insert(taken.cuts.end(), column.begin(), column.end());
    taken.offsets.push_back(static_cast<std::int64_t>(taken.cuts.size()));
    taken.has_missing.push_back(has_missing[static_cast<size_t>(c)]);
  }
  return taken;
}

BinnedMatrix::BinnedMatrix(const BinnedMatrix& whole, std::span<const std::int64_t> columns,
                           std::span<const std::int64_t> rows, Context& context)
    : rows_(rows.size()), columns_(columns.size()), has_missing_(columns.size()) {
  bins_.resize(groups() * kLanes * rows_);
  for (std::int64_t c : columns) value_bins_.push_back(whole.value_bins(static_cast<size_t>(c)));
  context.parallel_for(columns_, 2.0 * static_cast<double>(rows_ * columns_), [&](size_t c, int) {
    const std::uint8_t* in = whole.column(static_cast<size_t>(columns[c]));
    std::uint8_t* out = bins_.data() + (c / kLanes) * kLanes * rows_ + c % kLanes;
    bool any_missing = false;
    for (size_t r = 0; r < rows_; ++r) {
      out[r * kLanes] = in[static_cast<size_t>(rows[r]) * kLanes];
      any_missing |= out[r * kLanes] == value_bins_[c];
    }
    has_missing_[c] = any_missing;
  });
}

}  // namespace frugal
