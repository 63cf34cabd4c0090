#include "loss/cox.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "support/kernels.hpp"
#include "support/portable_math.hpp"

namespace frugal {
namespace {

// Shares of the largest risk are whole numbers of 2^-60, at least one: what a row weighs at risk is never nothing.
constexpr int kShareBits = 60;

}  // namespace

std::vector<double> Cox::start(const Target& target, Context& context) {
  times_of(target, context);
  return {0.0};  // the same number added to all raw predictions changes nothing
}

const Cox::Times& Cox::times_of(const Target& target, Context& context) {
  for (const Times& known : times_)
    if (known.weights == target.weights && known.y == target.y.data()) return known;
  if (!context.together().alone())
    throw std::invalid_argument("The Cox loss compares the times of all rows; this table lies in parts.");
  Times made{target.weights, target.y.data(), std::vector<Row>(target.rows()), {}};
  std::vector<Row> order(target.rows());
  std::iota(order.begin(), order.end(), Row{0});
  auto time = [&](Row row) { return std::fabs(target.y[row]); };
  std::sort(order.begin(), order.end(), [&](Row a, Row b) { return time(a) < time(b); });
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || time(order[i]) != time(order[i - 1])) made.events.push_back(0);
    made.place[order[i]] = narrow<Row>(made.events.size() - 1);
    if (target.y[order[i]] > 0) made.events.back() += target.weights->unit(order[i]);
  }
  return times_.emplace_back(std::move(made));
}

Cox::AtRisk Cox::at_risk(const Target& target, const Times& times, const double* raw, Context& context) const {
  const size_t n = target.rows();
  AtRisk out{-kInfinity, std::vector<double>(n), std::vector<double>(times.events.size())};
  for (size_t i = 0; i < n; ++i) out.largest = std::max(out.largest, raw[i]);
  std::vector<std::int64_t> whole(n);
  context.over_blocks(n, kLossBlock, 10.0, [&](size_t begin, size_t end, size_t) {
    double below[kLossBlock];
    for (size_t i = begin; i < end; ++i) below[i - begin] = raw[i] - out.largest;
    kernels().exponentials(end - begin, below, out.share.data() + begin);
    for (size_t i = begin; i < end; ++i) {
      whole[i] = std::max<std::int64_t>(1, to_grid(out.share[i], kShareBits));
      out.share[i] = scaled(real(whole[i]), -kShareBits);
    }
  });
  std::vector<Int128> sums(times.events.size());
  for (size_t i = 0; i < n; ++i) sums[times.place[i]] += Int128{target.weights->unit(i)} * whole[i];
  Int128 later = 0;
  for (size_t t = sums.size(); t-- > 0;) {
    later += sums[t];
    out.weight[t] = scaled(real(later), -kShareBits);
  }
  return out;
}

// Of a row with an event: the logarithm of the risk of all that are at risk, as a mean over all rows, less its own.
double Cox::mean(const Target& target, const double* raw, Context& context) {
  const Times& times = times_of(target, context);
  if (target.rows() > 0 && !(kernels().largest_magnitude(target.rows(), raw) < kInfinity)) return kInfinity;
  const AtRisk risk = at_risk(target, times, raw, context);
  std::vector<double> logs;
  for (double weight : risk.weight) logs.push_back(portable_log(weight / real(target.weights->total)) + risk.largest);
  return weighted_mean(target, context, shift_of(target), [&](size_t begin, size_t end, double* out) {
    for (size_t i = begin; i < end; ++i) out[i - begin] = target.y[i] > 0 ? logs[times.place[i]] - raw[i] : 0.0;
  });
}

// The curvature leaves out what a row takes from its own risk: it is never below the true one of any step, so that no
// step goes too far, and a weight of k is k equal rows.
void Cox::derivatives(const Target& target, const double* raw, size_t, double* g, double* h, Context& context) {
  const Times& times = times_of(target, context);
  const AtRisk risk = at_risk(target, times, raw, context);
  std::vector<double> hazard;  // of the times so far, for a share of 1
  double sum = 0.0;
  for (size_t t = 0; t < times.events.size(); ++t) hazard.push_back(sum += real(times.events[t]) / risk.weight[t]);
  context.over_blocks(target.rows(), kLossBlock, 4.0, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) {
      h[i] = risk.share[i] * hazard[times.place[i]];
      g[i] = (target.y[i] > 0 ? 1.0 : 0.0) - h[i];
    }
  });
}

}  // namespace frugal
