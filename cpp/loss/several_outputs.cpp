#include "loss/several_outputs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "support/kernels.hpp"

namespace frugal {
namespace {

// The column of an output as a target by itself.
Target own_column(const Target& target, size_t k) {
  return {target.of(k), target.weights};
}

Grid grid_for(std::span<const double> values, int bits, const char* what, Context& context) {
  const double own = kernels().largest_magnitude(values.size(), values.data());
  return Grid(largest_of(context.together(), own, what), bits);
}

// sum w (g - mean)^2 / sum w, from exact sums of gradients on the grid of a tree; 0 only where all are equal.
double variance_of(std::span<const double> g, const Weights& weights, Context& context) {
  const Grid grid = grid_for(g, kGradientBits, "the largest gradient", context);
  Int128 sum = 0, squares = 0;
  for (size_t i = 0; i < g.size(); ++i) {
    const std::int64_t q = grid.at(g[i]);
    sum += Int128{weights.unit(i)} * q;
    squares += Int128{weights.unit(i)} * (q * q);
  }
  sum = sum_of(context.together(), sum, "gradients");
  squares = sum_of(context.together(), squares, "squared gradients");
  // At most 2^36 * 2^88 = 2^124, as for the impurity.
  const Int128 spread = squares * weights.total - sum * sum;
  const double total = real(weights.total), variance = scaled(real(spread), -2 * grid.shift()) / (total * total);
  constexpr double kLeast = 0x1p-900;  // squares of smaller numbers lose their digits
  if (!std::isfinite(variance)) throw std::domain_error("The gradients are too large to be squared. Rescale y.");
  if (spread > 0 && variance < kLeast)
    throw std::domain_error("The gradients are too small to be squared. Rescale y or the weights.");
  return variance;
}

double mean_of(std::span<const double> h, const Weights& weights, Context& context) {
  const Grid grid = grid_for(h, kLeafBits, "the largest curvature", context);
  Int128 sum = 0;
  for (size_t i = 0; i < h.size(); ++i) sum += Int128{weights.unit(i)} * grid.at(h[i]);
  return grid.back(sum_of(context.together(), sum, "curvatures")) / real(weights.total);
}

}  // namespace

bool SeveralOutputs::rowwise() const {
  return std::all_of(own_.begin(), own_.end(), [](const auto& loss) { return loss->rowwise(); });
}

std::vector<double> SeveralOutputs::start(const Target& target, Context& context) {
  std::vector<double> out;
  for (size_t k = 0; k < own_.size(); ++k) {
    out.push_back(own_[k]->start(own_column(target, k), context)[0]);
    find_scales(k, target, out[k], context);
  }
  return out;
}

void SeveralOutputs::find_scales(size_t k, const Target& target, double start, Context& context) {
  const Target own = own_column(target, k);
  const std::vector<double> raw(own.rows(), start);
  std::vector<double> g(own.rows()), h(own.rows());
  const double loss = own_[k]->mean(own, raw.data(), context);
  own_[k]->derivatives(own, raw.data(), 0, g.data(), h.data(), context);
  const double variance = variance_of(g, *own.weights, context), curvature = mean_of(h, *own.weights, context);
  search_scale_[k] = variance > 0 ? 1.0 / std::sqrt(variance) : 0.0;
  // Without curvature the loss is that of an absolute value, which is its own scale.
  const double unit = leaf_quantile() >= 0 ? loss : curvature > 0 ? variance / curvature : 0.0;
  loss_scale_[k] = variance > 0 && unit > 0 && std::isfinite(1.0 / unit) ? 1.0 / unit : 0.0;
}

// The mean over outputs, the smallest first, so that the order of outputs does not matter.
double SeveralOutputs::mean(const Target& target, const double* raw, Context& context) {
  std::vector<double> losses;
  for (size_t k = 0; k < own_.size(); ++k)
    losses.push_back(loss_scale_[k] * own_[k]->mean(own_column(target, k), raw + k * target.rows(), context));
  std::sort(losses.begin(), losses.end());
  double sum = 0.0;
  for (double loss : losses) sum += loss;
  return sum / real(own_.size());
}

void SeveralOutputs::derivatives(const Target& target, const double* raw, size_t k, double* g, double* h,
                                 Context& context) {
  own_[k]->derivatives(own_column(target, k), raw + k * target.rows(), 0, g, h, context);
}

}  // namespace frugal
