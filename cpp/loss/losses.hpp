// Losses: where boosting starts, the negative gradient g and the curvature h of every row, and the value.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "data/target.hpp"
#include "support/threads.hpp"

namespace frugal {

// The negative gradient and the curvature of every row, for one output.
struct Derivatives {
  std::vector<double> g, h;
  double largest_g = -1.0, largest_h = -1.0;  // of their magnitudes; negative: not known
};

// Raw predictions of one output lie together: raw[k * rows + i].
class Loss {
 public:
  virtual ~Loss() = default;
  virtual size_t outputs() const { return 1; }  // trees in one iteration

  // Whether value and derivatives of a row depend on nothing but its y and its raw predictions.
  virtual bool rowwise() const { return true; }

  // The best constant raw prediction. Called once before boosting, also when it goes on from a model.
  virtual std::vector<double> start(const Target& target, Context& context) = 0;

  // Weighted mean of the loss. Called before the derivatives of the same raw predictions are asked for,
  // so a loss may keep what both need.
  virtual double mean(const Target& target, const double* raw, Context& context) = 0;

  // Negative gradient and curvature with respect to output k.
  virtual void derivatives(const Target& target, const double* raw, size_t k, double* g, double* h,
                           Context& context) = 0;

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

 protected:
  // The grid of the last mean over the same rows.
  int& shift_of(const Target& target) {
    for (auto& [weights, shift] : shifts_)
      if (weights == target.weights) return shift;
    return shifts_.emplace_back(target.weights, 0).second;
  }

 private:
  std::vector<std::pair<const Weights*, int>> shifts_;
};

// `name` as in Python; `parameter` is the quantile's level or Huber's delta (NaN: found from the data).
std::unique_ptr<Loss> make_loss(const std::string& name, size_t outputs, double parameter);

// sum w * value(i) / sum w with value filled by blocks of rows: fill(begin, end, out). Values are added as integers, so
// neither the order of rows nor threads nor parts of the table can change the sum.
inline constexpr size_t kLossBlock = 1024;

class LossSum {
 public:
  LossSum(const double* values, size_t rows, int shift) : values_(values), rows_(rows), shift_(shift) {}
  double largest() const;                                    // of the magnitudes
  Wide sum(const Weights& weights, size_t first_row) const;  // on the grid; wrong where the grid is too fine

 private:
  const double* values_;
  size_t rows_;
  int shift_;
};

// The grid on which losses are added, from the largest of them; coarse steps, so that it seldom changes.
int loss_shift(double largest);

template <class Fill>
double weighted_mean(const Target& target, Context& context, int& shift, const Fill& fill) {
  const size_t n = target.rows(), blocks = (n + kLossBlock - 1) / kLossBlock;
  std::vector<Wide> sums(blocks);
  std::vector<double> most(blocks);
  while (true) {  // twice where the grid of the last call does not fit
    context.over_blocks(n, kLossBlock, 20.0, [&](size_t begin, size_t end, size_t block) {
      double values[kLossBlock];
      fill(begin, end, values);
      const LossSum own(values, end - begin, shift);
      most[block] = own.largest();
      sums[block] = own.sum(*target.weights, begin);
    });
    const double largest =
        largest_of(context.together(), LossSum(most.data(), blocks, 0).largest(), "the largest loss");
    if (!(largest < kInfinity)) return largest;
    if (const int fitting = loss_shift(largest); shift != fitting) {
      shift = fitting;
      continue;
    }
    Wide total = 0;
    for (Wide s : sums) total += s;
    total = sum_of(context.together(), total, "losses");
    return scaled(static_cast<double>(total), -shift) / static_cast<double>(target.weights->total);
  }
}

// Smallest value with at least `level` of the weight at or below it; the mean of two where it falls between them; zero
// where there is no weight. Reorders `values`; `units` (empty: all 1) must be in the same order.
double weighted_quantile(std::span<double> values, std::span<const std::int64_t> units, double level);

// The same of several lists at once, of which other parts of the table have more.
struct Weighted {
  std::vector<double> values;
  std::vector<std::int64_t> units;  // empty: all 1
};
std::vector<double> weighted_quantiles(std::span<Weighted> lists, double level, Context& context);

}  // namespace frugal
