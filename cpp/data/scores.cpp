#include "data/scores.hpp"

#include <algorithm>
#include <cmath>

#include "support/portable_math.hpp"

namespace frugal {
namespace {

using Units = std::vector<std::int64_t>;

// The weight of each bin of values of a column, in this part of the table.
void weigh_bins(const BinnedMatrix& X, const Weights& weights, size_t column, std::span<std::int64_t> out) {
  auto add = [&](std::uint8_t bin, size_t row) {
    if (bin < out.size()) out[bin] += weights.unit(row);
  };
  if (!X.is_sparse(column)) {
    std::vector<std::uint8_t> bins(X.rows());
    X.copy(column, 0, X.rows(), bins.data(), 1);
    for (size_t r = 0; r < bins.size(); ++r) add(bins[r], r);
    return;
  }
  const auto listed = X.listed(X.place(column));
  std::int64_t rest = 0;
  if (weights.uniform()) {
    rest = narrow<std::int64_t>(X.rows());
  } else {
    for (std::int64_t unit : weights.units) rest += unit;
  }
  for (size_t i = 0; i < listed.rows.size(); ++i) {
    add(listed.bins[i], listed.rows[i]);
    rest -= weights.unit(listed.rows[i]);
  }
  if (listed.usual_bin < out.size()) out[listed.usual_bin] += rest;
}

// Normal scores: the quantile at the middle of the ranks of a bin. A bin without rows has the rank between its
// neighbours, or that of the neighbour at the end.
std::vector<double> by_ranks(std::span<const std::int64_t> weight) {
  std::int64_t total = 0;
  for (std::int64_t w : weight) total += w;
  std::vector<double> out(weight.size());
  std::int64_t below = 0;
  double last = 0.0;
  size_t empty = 0;  // bins without rows before the first one with rows
  for (size_t b = 0; b < weight.size(); ++b) {
    const std::int64_t at = 2 * below + weight[b];
    below += weight[b];
    if (at == 0) {
      ++empty;
      continue;
    }
    if (at < 2 * total) last = portable_normal_quantile(real(at) / (2.0 * real(total)));
    out[b] = last;
  }
  if (empty < out.size()) std::fill_n(out.begin(), empty, out[empty]);
  return out;
}

// The middle between a bin's thresholds. The outermost bins are as wide as their neighbours: how far their values lie
// out is not known, and should not matter.
std::vector<double> by_values(std::span<const double> cuts) {
  std::vector<double> out;
  if (cuts.size() == 1) return {0.0, 1.0};
  for (size_t b = 0; b <= cuts.size(); ++b) {
    const size_t low = std::clamp<size_t>(b, 1, cuts.size() - 1) - 1;
    const double middle = 0.5 * cuts[low] + 0.5 * cuts[low + 1], width = cuts[low + 1] - cuts[low];
    out.push_back(b == 0 ? middle - width : b == cuts.size() ? middle + width : middle);
  }
  return out;
}

// Subtract the mean over the rows; the standard deviation.
double centre(std::span<const std::int64_t> weight, std::vector<double>& values) {
  double total = 0.0, mean = 0.0, squares = 0.0;
  for (size_t b = 0; b < weight.size(); ++b) total += real(weight[b]);
  for (size_t b = 0; b < weight.size(); ++b) mean += real(weight[b]) / total * values[b];
  for (double& v : values) v -= mean;
  for (size_t b = 0; b < weight.size(); ++b) squares += real(weight[b]) / total * (values[b] * values[b]);
  return std::sqrt(squares);
}

// Values far out count as far as kMostDeviations from the mean: a single one would else pull a line towards it.
void cut_far_out(std::span<const std::int64_t> weight, std::vector<double>& values) {
  const double most = kMostDeviations * centre(weight, values);
  for (double& v : values) v = std::clamp(v, -most, most);
}

// Standardised, and rounded to whole steps.
void standardise(std::span<const std::int64_t> weight, std::vector<double>& values, std::span<std::int16_t> out) {
  const double step = real(1 << kScoreBits) / centre(weight, values);
  if (!std::isfinite(step)) return;
  for (size_t b = 0; b < weight.size(); ++b) {
    const double score = std::clamp(values[b] * step, -real(kMostScore), real(kMostScore));
    out[b] = narrow<std::int16_t>(truncated<int>(std::nearbyint(score)));
  }
}

}  // namespace

std::vector<std::int16_t> bin_scores(const BinnedMatrix& X, const Weights& weights, LineScale scale, Context& context) {
  const Thresholds& thresholds = X.thresholds();
  auto begin_of = [&](size_t c) { return thresholds.offsets[c] + c; };
  Units units(thresholds.cuts.size() + X.columns());
  const double work = 2.0 * real(X.rows() * X.columns());
  context.parallel_for(X.columns(), work, [&](size_t c, size_t) {
    weigh_bins(X, weights, c, std::span(units).subspan(begin_of(c), X.value_bins(c)));
  });
  context.together().sum(units, "weights of bins");
  std::vector<std::int16_t> scores(units.size());
  context.parallel_for(X.columns(), 20.0 * real(units.size()), [&](size_t c, size_t) {
    const auto own = std::span<const std::int64_t>(units).subspan(begin_of(c), X.value_bins(c));
    const auto filled = own.size() - index(std::count(own.begin(), own.end(), 0));
    if (X.categorical(c) || filled < 2) return;
    auto values = scale == LineScale::ranks ? by_ranks(own) : by_values(thresholds.of(c));
    if (scale == LineScale::values) cut_far_out(own, values);
    standardise(own, values, std::span(scores).subspan(begin_of(c), own.size()));
  });
  return scores;
}

}  // namespace frugal
