// Losses: where boosting starts, the negative gradient g and the curvature h of every row, and the value.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fixed_point.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace frugal {

// What is to be predicted: class codes 0, 1, ... or numbers, and how much each row counts.
struct Target {
  std::span<const double> y;
  const Weights* weights;
  size_t rows() const { return y.size(); }
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

  // The longest Newton step of one leaf: beyond it the loss has long lost its quadratic shape.
  virtual double step_limit() const { return kInfinity; }

  // Losses without curvature set a leaf to this quantile of its residuals; negative: they have curvature.
  virtual double leaf_quantile() const { return -1.0; }
};

// `name` as in Python; `parameter` is the quantile's level or Huber's delta (NaN: found from the data).
std::unique_ptr<Loss> make_loss(const std::string& name, int outputs, double parameter);

// sum w * value(i) / sum w with value filled by blocks of rows: fill(begin, end, out). Fixed blocks make the
// rounding the same for any number of threads.
template <class Fill>
double weighted_mean(const Target& target, Context& context, const Fill& fill) {
  constexpr size_t kBlock = 1024;
  const size_t n = target.rows();
  std::vector<double> partial((n + kBlock - 1) / kBlock);
  context.over_blocks(n, kBlock, 20.0, [&](size_t begin, size_t end, size_t block) {
    double value[kBlock];
    fill(begin, end, value);
    double sum = 0.0;
    for (size_t i = begin; i < end; ++i) sum += static_cast<double>(target.weights->unit(i)) * value[i - begin];
    partial[block] = sum;
  });
  double total = 0.0;
  for (double p : partial) total += p;
  return total / static_cast<double>(target.weights->total);
}

// Smallest value with at least `level` of the weight at or below it; the mean of two where it falls
// between them. Reorders `values`; `units` (empty: all 1) must be in the same order.
double weighted_quantile(std::span<double> values, std::span<const std::int64_t> units, double level);

}  // namespace frugal
