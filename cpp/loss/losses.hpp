// Losses: where boosting starts, the negative gradient g and the curvature h of every row, and the value.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "data/types.hpp"
#include "support/fixed_point.hpp"
#include "support/threads.hpp"

namespace frugal {

// What is to be predicted: class codes 0, 1, ... or numbers, and how much each row counts.
struct Target {
  std::span<const double> y;
  const Weights* weights;
  size_t rows() const { return y.size(); }
};

// The negative gradient and the curvature of every row, for one output.
struct Derivatives {
  std::vector<double> g, h;
  double largest_g = -1.0, largest_h = -1.0;  // of their magnitudes; negative: not known
};

// Raw predictions of one output lie together: raw[k * rows + i].
class Loss {
 public:
  virtual ~Loss() = default;
  virtual int outputs() const { return 1; }  // trees in one iteration

  // Whether value and derivatives of a row depend on nothing but its y and its raw predictions.
  virtual bool rowwise() const { return true; }

  // The best constant raw prediction. Called once before boosting, also when it goes on from a model.
  virtual std::vector<double> start(const Target& target, Context& context) = 0;

  // Weighted mean of the loss. Called before the derivatives of the same raw predictions are asked for,
  // so a loss may keep what both need.
  virtual double mean(const Target& target, const double* raw, Context& context) = 0;

  // Negative gradient and curvature with respect to output k.
  virtual void derivatives(const Target& target, const double* raw, int k, double* g, double* h, Context& context) = 0;

  // Mean and derivatives at once, for losses of one output that can do both at little more than the price of one.
  virtual bool at_once() const { return false; }
  virtual double mean_and_derivatives(const Target& target, const double* raw, Derivatives& d, Context& context) {
    const double value = mean(target, raw, context);
    derivatives(target, raw, 0, d.g.data(), d.h.data(), context);
    d.largest_g = d.largest_h = -1.0;
    return value;
  }

  // The longest Newton step of one leaf: beyond it the loss has long lost its quadratic shape.
  virtual double step_limit() const { return kInfinity; }

  // Losses without curvature set a leaf to this quantile of its residuals; negative: they have curvature.
  virtual double leaf_quantile() const { return -1.0; }
};

// `name` as in Python; `parameter` is the quantile's level or Huber's delta (NaN: found from the data).
std::unique_ptr<Loss> make_loss(const std::string& name, int outputs, double parameter);

// sum w * value(i) / sum w with value filled by blocks of rows: fill(begin, end, out). Fixed blocks make the
// rounding the same for any number of threads.
inline constexpr size_t kLossBlock = 1024;

template <class Fill>
double weighted_mean(const Target& target, Context& context, const Fill& fill) {
  constexpr size_t kBlock = kLossBlock;
  const size_t n = target.rows();
  std::vector<double> partial((n + kBlock - 1) / kBlock);
  context.over_blocks(n, kBlock, 20.0, [&](size_t begin, size_t end, size_t block) {
    double value[kBlock];
    fill(begin, end, value);
    if (!target.weights->uniform())
      for (size_t i = begin; i < end; ++i) value[i - begin] *= static_cast<double>(target.weights->units[i]);
    std::fill(value + (end - begin), value + kBlock, 0.0);
    for (size_t half = kBlock / 2; half > 0; half /= 2)  // in pairs: vector code, and little rounding
      for (size_t i = 0; i < half; ++i) value[i] += value[i + half];
    partial[block] = value[0];
  });
  double total = 0.0;
  for (double p : partial) total += p;
  return total / static_cast<double>(target.weights->total);
}

// Smallest value with at least `level` of the weight at or below it; the mean of two where it falls
// between them. Reorders `values`; `units` (empty: all 1) must be in the same order.
double weighted_quantile(std::span<double> values, std::span<const std::int64_t> units, double level);

}  // namespace frugal
