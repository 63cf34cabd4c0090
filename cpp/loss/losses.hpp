// Losses: the start value of boosting, the mean loss, and the negative gradient g and curvature h of every row.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "data/target.hpp"
#include "support/threads.hpp"

namespace frugal {

// The negative gradient and the curvature of every row, for one output.
struct Derivatives {
  std::vector<double> g, h;
  double largest_g = -1.0, largest_h = -1.0;  // the largest magnitudes; negative: not known
};

// Which built-in loss it is, for engines with formulas of their own, and what its formula needs (formulas.hpp). It may
// be known only after `start`.
enum class LossName { other, logistic, softmax, squared, absolute, quantile, huber, poisson, gamma, tweedie };
struct LossKind {
  LossName name = LossName::other;
  double first = 0.0, second = 0.0;
};

// The raw prediction of output k for row i is raw[k * rows + i].
class Loss {
 public:
  virtual ~Loss() = default;
  virtual size_t outputs() const { return 1; }  // trees in one iteration

  // Whether value and derivatives of a row depend only on its y and its raw predictions.
  virtual bool rowwise() const { return true; }

  // The best constant raw prediction. Called once before boosting, also when boosting continues from a model.
  virtual std::vector<double> start(const Target& target, Context& context) = 0;

  // Weighted mean of the loss. Called before `derivatives` with the same raw predictions, so a loss may keep values
  // that both need.
  virtual double mean(const Target& target, const double* raw, Context& context) = 0;

  // Negative gradient and curvature with respect to output k.
  virtual void derivatives(const Target& target, const double* raw, size_t k, double* g, double* h,
                           Context& context) = 0;

  // Mean and derivatives in one pass, for losses of one output that compute both in little more time than one of them.
  virtual bool at_once() const { return false; }
  virtual double mean_and_derivatives(const Target& target, const double* raw, Derivatives& d, Context& context) {
    const double value = mean(target, raw, context);
    derivatives(target, raw, 0, d.g.data(), d.h.data(), context);
    d.largest_g = d.largest_h = -1.0;
    return value;
  }

  // The longest Newton step of a leaf. Beyond it, the quadratic approximation of the loss is useless.
  virtual double step_limit() const { return kInfinity; }

  // How the losses of several columns of y are brought to a common scale. Known after `start`.
  virtual OutputScale scale(size_t) const { return {}; }

  // Losses without curvature set a leaf to this quantile of its residuals; negative: the loss has curvature.
  virtual double leaf_quantile() const { return -1.0; }

  virtual LossKind kind() const { return {}; }

 protected:
  // The grid exponent of the last mean over the same rows.
  int& shift_of(const Target& target) {
    for (auto& [weights, shift] : shifts_)
      if (weights == target.weights) return shift;
    return shifts_.emplace_back(target.weights, 0).second;
  }

 private:
  std::vector<std::pair<const Weights*, int>> shifts_;
};

// `name` is the name in Python; `parameter` is the level of a quantile, the delta of Huber (NaN: from the
// data) or the power of Tweedie. `outputs`: classes, or columns of y.
std::unique_ptr<Loss> make_loss(const std::string& name, size_t outputs, double parameter);

// Rows whose losses are computed and summed together.
inline constexpr size_t kLossBlock = 1024;

class LossSum {
 public:
  LossSum(const double* values, size_t rows, int shift) : values_(values), rows_(rows), shift_(shift) {}
  double largest() const;  // the largest magnitude
  // The sum on the grid. Wrong if the grid is too fine for the largest value.
  Int128 sum(const Weights& weights, size_t first_row) const;

 private:
  const double* values_;
  size_t rows_;
  int shift_;
};

// The exponent of the grid on which losses are summed, from the largest loss; in coarse steps, so that it seldom
// changes.
int loss_shift(double largest, const Weights& weights);

// sum w * value / sum w, where fill(begin, end, out) computes the values of a block of rows. They are summed as
// integers, so neither the order of rows nor threads nor parts of the table change the sum.

// `facts`, if any, are numbers whose maxima over all parts are wanted too; `learn` finds them after `fill`.
inline constexpr auto kNothingToLearn = [] {};

template <class Fill, class Learn = decltype(kNothingToLearn)>
double weighted_mean(const Target& target, Context& context, int& shift, const Fill& fill, std::span<double> facts = {},
                     const Learn& learn = kNothingToLearn) {
  const size_t n = target.rows(), blocks = (n + kLossBlock - 1) / kLossBlock;
  std::vector<Int128> sums(blocks);
  std::vector<double> most(blocks);
  while (true) {  // a second time if the grid of the last call does not fit
    context.over_blocks(n, kLossBlock, 20.0, [&](size_t begin, size_t end, size_t block) {
      double values[kLossBlock];
      fill(begin, end, values);
      const LossSum own(values, end - begin, shift);
      most[block] = own.largest();
      sums[block] = own.sum(*target.weights, begin);
    });
    learn();
    std::vector<double> maxima(facts.begin(), facts.end());
    maxima.push_back(LossSum(most.data(), blocks, 0).largest());
    Int128 total = std::accumulate(sums.begin(), sums.end(), Int128{0});
    sum_and_largest(context.together(), total, maxima, "losses");
    const double largest = maxima.back();
    std::copy_n(maxima.begin(), facts.size(), facts.begin());
    if (!(largest < kInfinity)) return largest;
    if (const int fitting = loss_shift(largest, *target.weights); shift != fitting) {
      shift = fitting;
      continue;
    }
    return scaled(real(total), -shift) / real(target.weights->total);
  }
}

// The smallest value with at least `level` of the weight at or below it, the mean of two values if the level falls
// between them, or zero if there is no weight. Reorders `values`. `units` are their weights (empty: all 1).
double weighted_quantile(std::span<double> values, std::span<const std::int64_t> units, double level);

// The quantiles of several lists, over all parts of the table.
struct Weighted {
  std::vector<double> values;
  std::vector<std::int64_t> units;  // empty: all 1
};
std::vector<double> weighted_quantiles(std::span<Weighted> lists, double level, Context& context);

// The search for the quantile of a list that lies elsewhere: the leading bits of its key, found some at a time. Keys
// are integers in the order of the values.
struct QuantileSearch {
  static constexpr int kKeyBits = 64, kDigitBits = 8;

  std::uint64_t prefix = 0;
  std::int64_t below = 0, total = 0;  // the weight of smaller keys, and of all keys
  double target = 0.0;

  // `digits`: the weights of the keys that go on with each value of the next bits; `left`: bits not known so far.
  void narrow_down(const std::int64_t* digits, int left, double level);
  // `at`: the weight of the key; `next`: the next larger one, if there is one.
  double value(std::int64_t at, bool has_next, std::uint64_t next) const;
};

}  // namespace frugal
