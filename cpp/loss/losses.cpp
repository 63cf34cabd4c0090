#include "loss/losses.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "loss/cox.hpp"
#include "loss/formulas.hpp"
#include "loss/several_outputs.hpp"
#include "support/kernels.hpp"
#include "support/portable_math.hpp"

namespace frugal {
namespace {

constexpr size_t kBlock = kLossBlock;

double exact_mean(const Target& target, Context& context) {
  const double own = kernels().largest_magnitude(target.rows(), target.y.data());
  const Grid grid(largest_of(context.together(), own, "the largest y"), kLeafBits);
  Int128 sum = 0;
  for (size_t i = 0; i < target.rows(); ++i) sum += Int128{target.weights->unit(i)} * grid.at(target.y[i]);
  return grid.back(sum_of(context.together(), sum, "y")) / real(target.weights->total);
}

std::int64_t weight_of_class(const Target& target, double k, Context& context) {
  std::int64_t sum = 0;
  for (size_t i = 0; i < target.rows(); ++i)
    if (target.y[i] == k) sum += target.weights->unit(i);
  return sum_of(context.together(), sum, "the weight of a class");
}

double quantile_of(const Target& target, std::vector<double> values, double level, Context& context) {
  Weighted list{std::move(values), target.weights->units};
  return weighted_quantiles({&list, 1}, level, context)[0];
}

class LogLoss final : public Loss {
 public:
  std::vector<double> start(const Target& t, Context& context) override {
    const std::int64_t ones = weight_of_class(t, 1.0, context), zeros = t.weights->total - ones;
    // The larger class over the smaller one: if classes are swapped, only the sign changes.
    const double odds = real(std::max(ones, zeros)) / real(std::min(ones, zeros));
    return {ones >= zeros ? portable_log(odds) : -portable_log(odds)};
  }
  double mean(const Target& t, const double* raw, Context& context) override {
    return weighted_mean(t, context, shift_of(t), [&](size_t begin, size_t end, double* out) {
      kernels().logistic_losses(end - begin, t.y.data() + begin, raw + begin, out);
    });
  }
  void derivatives(const Target& t, const double* raw, size_t, double* g, double* h, Context& context) override {
    context.over_blocks(t.rows(), kBlock, 10.0, [&](size_t begin, size_t end, size_t) {
      double losses[kBlock];
      kernels().logistic(end - begin, t.y.data() + begin, raw + begin, g + begin, h + begin, losses);
    });
  }
  bool at_once() const override { return true; }
  double mean_and_derivatives(const Target& t, const double* raw, Derivatives& d, Context& context) override {
    const size_t blocks = (t.rows() + kBlock - 1) / kBlock;
    std::vector<double> largest_g(blocks), largest_h(blocks);
    const auto fill = [&](size_t begin, size_t end, double* out) {
      double *g = d.g.data() + begin, *h = d.h.data() + begin;
      kernels().logistic(end - begin, t.y.data() + begin, raw + begin, g, h, out);
      largest_g[begin / kBlock] = kernels().largest_magnitude(end - begin, g);
      largest_h[begin / kBlock] = kernels().largest_magnitude(end - begin, h);
    };
    std::array<double, 2> most{};
    const double mean = weighted_mean(t, context, shift_of(t), fill, most, [&] {
      most = {kernels().largest_magnitude(blocks, largest_g.data()),
              kernels().largest_magnitude(blocks, largest_h.data())};
    });
    d.largest_g = most[0];
    d.largest_h = most[1];
    return mean;
  }
  double step_limit() const override { return 36.0; }  // sigmoid(36) is 1 in double precision
  LossKind kind() const override { return {LossName::logistic}; }
};

class Multinomial final : public Loss {
 public:
  explicit Multinomial(size_t outputs) : outputs_(outputs) {}
  size_t outputs() const override { return outputs_; }
  std::vector<double> start(const Target& t, Context& context) override {
    std::vector<double> out;
    for (size_t k = 0; k < outputs_; ++k) {
      double share = real(weight_of_class(t, real(k), context)) / real(t.weights->total);
      out.push_back(portable_log(std::max(share, 0x1p-52)));
    }
    return out;
  }
  double mean(const Target& t, const double* raw, Context& context) override {
    const size_t n = t.rows();
    log_sum_.resize(n);
    return weighted_mean(t, context, shift_of(t), [&](size_t begin, size_t end, double* out) {
      kernels().log_sum_exp(end - begin, outputs_, raw + begin, n, log_sum_.data() + begin);
      for (size_t i = begin; i < end; ++i) out[i - begin] = log_sum_[i] - raw[truncated<size_t>(t.y[i]) * n + i];
    });
  }
  void derivatives(const Target& t, const double* raw, size_t k, double* g, double* h, Context& context) override {
    const double* own = raw + k * t.rows();
    context.over_blocks(t.rows(), kBlock, 10.0, [&](size_t begin, size_t end, size_t) {
      kernels().softmax_derivatives(end - begin, t.y.data() + begin, real(k), own + begin, log_sum_.data() + begin,
                                    g + begin, h + begin);
    });
  }
  double step_limit() const override { return 36.0; }
  LossKind kind() const override { return {LossName::softmax}; }

 private:
  size_t outputs_;
  std::vector<double> log_sum_;  // set by mean(); raw predictions of other classes may change before it is used
};

// Losses of one output whose value and derivatives are formulas of y and the raw prediction (formulas.hpp).
template <class Formula>
class RowwiseLoss : public Loss {
 public:
  explicit RowwiseLoss(Formula formula = {}) : formula_(formula) {}
  double mean(const Target& t, const double* raw, Context& context) override {
    return weighted_mean(t, context, shift_of(t), [&](size_t begin, size_t end, double* out) {
      for (size_t i = begin; i < end; ++i) out[i - begin] = formula_.value(t.y[i], raw[i]);
    });
  }
  void derivatives(const Target& t, const double* raw, size_t, double* g, double* h, Context& context) override {
    context.over_blocks(t.rows(), kBlock, 4.0, [&](size_t begin, size_t end, size_t) {
      for (size_t i = begin; i < end; ++i) formula_.derivative(t.y[i], raw[i], g[i], h[i]);
    });
  }

 protected:
  Formula formula_;
};

class SquaredError final : public RowwiseLoss<SquaredErrorFormula> {
 public:
  std::vector<double> start(const Target& t, Context& context) override { return {exact_mean(t, context)}; }
  LossKind kind() const override { return {LossName::squared}; }
};

class Quantile final : public RowwiseLoss<QuantileFormula> {
 public:
  explicit Quantile(double level) : RowwiseLoss({level}) {}
  std::vector<double> start(const Target& t, Context& context) override {
    return {quantile_of(t, {t.y.begin(), t.y.end()}, formula_.level, context)};
  }
  double leaf_quantile() const override { return formula_.level; }
  LossKind kind() const override { return {LossName::quantile, formula_.level}; }
};

class AbsoluteError final : public RowwiseLoss<AbsoluteErrorFormula> {
 public:
  std::vector<double> start(const Target& t, Context& context) override {
    return {quantile_of(t, {t.y.begin(), t.y.end()}, 0.5, context)};
  }
  double leaf_quantile() const override { return 0.5; }
  LossKind kind() const override { return {LossName::absolute}; }
};

class Huber final : public RowwiseLoss<HuberFormula> {
 public:
  explicit Huber(double delta) : RowwiseLoss({1.0}), given_(delta) {}
  std::vector<double> start(const Target& t, Context& context) override {
    double median = quantile_of(t, {t.y.begin(), t.y.end()}, 0.5, context);
    double& delta = formula_.delta;
    delta = given_;
    if (std::isnan(given_)) {
      std::vector<double> residual(t.rows());
      for (size_t i = 0; i < t.rows(); ++i) residual[i] = std::fabs(t.y[i] - median);
      const double largest = largest_of(
          context.together(), kernels().largest_magnitude(residual.size(), residual.data()), "the largest residual");
      delta = quantile_of(t, std::move(residual), 0.9, context);
      if (delta == 0) delta = largest > 0 ? largest : 1.0;  // nine tenths of the rows agree: no outliers
    }
    return {median};
  }
  LossKind kind() const override { return {LossName::huber, formula_.delta}; }

 private:
  double given_;
};

// A log link: the start is the logarithm of the mean.
template <class Formula>
class LogLink : public RowwiseLoss<Formula> {
 public:
  using RowwiseLoss<Formula>::RowwiseLoss;
  std::vector<double> start(const Target& t, Context& context) override {
    return {portable_log(exact_mean(t, context))};
  }
  double step_limit() const override { return 10.0; }
};

class Poisson final : public LogLink<PoissonFormula> {
 public:
  LossKind kind() const override { return {LossName::poisson}; }
};

class Gamma final : public LogLink<GammaFormula> {
 public:
  LossKind kind() const override { return {LossName::gamma}; }
};

class Tweedie final : public LogLink<TweedieFormula> {
 public:
  explicit Tweedie(double power) : LogLink<TweedieFormula>(TweedieFormula{2.0 - power, 1.0 - power}) {}
  LossKind kind() const override { return {LossName::tweedie, formula_.to_two, formula_.to_one}; }
};

}  // namespace

double weighted_quantile(std::span<double> values, std::span<const std::int64_t> units, double level) {
  if (values.empty()) return 0.0;
  if (units.empty()) {
    double target = level * real(values.size());
    size_t at = std::clamp<size_t>(truncated<size_t>(std::ceil(target)), 1, values.size()) - 1;
    std::nth_element(values.begin(), values.begin() + at, values.end());
    if (real(at + 1) == target && at + 1 < values.size())
      return 0.5 * values[at] + 0.5 * *std::min_element(values.begin() + at + 1, values.end());
    return values[at] + 0.0;  // turns -0 into 0
  }
  std::vector<std::pair<double, std::int64_t>> pairs;
  std::int64_t total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    total += units[i];
    if (units[i] > 0) pairs.emplace_back(values[i], units[i]);
  }
  if (pairs.empty()) return 0.0;
  std::sort(pairs.begin(), pairs.end());
  double target = level * real(total);
  std::int64_t below = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    below += pairs[i].second;
    if (real(below) < target) continue;
    if (real(below) == target && i + 1 < pairs.size()) return 0.5 * pairs[i].first + 0.5 * pairs[i + 1].first;
    return pairs[i].first + 0.0;
  }
  return pairs.back().first + 0.0;
}

namespace {

// An integer key in the order of the values.
std::uint64_t key_of(double v) {
  const auto bits = std::bit_cast<std::uint64_t>(v + 0.0);
  return bits >> 63 ? ~bits : bits | (std::uint64_t{1} << 63);
}

double value_of(std::uint64_t key) {
  return std::bit_cast<double>(key >> 63 ? key & ~(std::uint64_t{1} << 63) : ~key);
}

constexpr int kDigitBits = QuantileSearch::kDigitBits, kKeyBits = QuantileSearch::kKeyBits;
constexpr size_t kDigits = size_t{1} << kDigitBits;

// For each list and each value of the next eight bits, the weight of the keys that begin with the prefix and go on with
// these bits. `left`: how many bits of the key are not known yet. All lists are summed in one message.
std::vector<std::int64_t> digit_weights(std::span<const Weighted> lists, std::span<const QuantileSearch> sought,
                                        int left, Context& context) {
  std::vector<std::int64_t> weights(lists.size() * kDigits);
  context.parallel_for(lists.size(), 1e6, [&](size_t l, size_t) {
    for (size_t i = 0; i < lists[l].values.size(); ++i) {
      const std::uint64_t key = key_of(lists[l].values[i]);
      if (left < kKeyBits && key >> left != sought[l].prefix) continue;
      weights[l * kDigits + ((key >> (left - kDigitBits)) & (kDigits - 1))] +=
          lists[l].units.empty() ? 1 : lists[l].units[i];
    }
  });
  context.together().sum(weights, "weights by digit");
  return weights;
}

std::vector<QuantileSearch> find_quantiles(std::span<const Weighted> lists, double level, Context& context) {
  std::vector<QuantileSearch> sought(lists.size());
  for (int left = kKeyBits; left > 0; left -= kDigitBits) {
    const auto weights = digit_weights(lists, sought, left, context);
    for (size_t l = 0; l < lists.size(); ++l) sought[l].narrow_down(weights.data() + l * kDigits, left, level);
  }
  return sought;
}

}  // namespace

void QuantileSearch::narrow_down(const std::int64_t* digits, int left, double level) {
  if (left == kKeyBits) {
    for (size_t d = 0; d < kDigits; ++d) total += digits[d];
    target = level * real(total);
  }
  size_t d = 0;
  for (; d + 1 < kDigits; ++d) {
    if (digits[d] > 0 && real(below + digits[d]) >= target) break;
    below += digits[d];
  }
  prefix = prefix << kDigitBits | d;
}

double QuantileSearch::value(std::int64_t at, bool has_next, std::uint64_t next) const {
  if (total == 0) return 0.0;
  const double own = value_of(prefix);
  return has_next && real(below + at) == target ? 0.5 * own + 0.5 * value_of(next) : own;
}

std::vector<double> weighted_quantiles(std::span<Weighted> lists, double level, Context& context) {
  std::vector<double> out(lists.size());
  if (context.together().alone()) {
    context.parallel_for(lists.size(), 1e6,
                         [&](size_t l, size_t) { out[l] = weighted_quantile(lists[l].values, lists[l].units, level); });
    return out;
  }
  const std::vector<QuantileSearch> sought = find_quantiles(lists, level, context);
  // If the level falls between two values, the next larger value is needed too.
  std::vector<double> next(lists.size(), -kInfinity);  // its negative, because parts exchange the largest of numbers
  std::vector<std::int64_t> at(lists.size());
  for (size_t l = 0; l < lists.size(); ++l)
    for (size_t i = 0; i < lists[l].values.size(); ++i) {
      const std::int64_t unit = lists[l].units.empty() ? 1 : lists[l].units[i];
      const std::uint64_t key = key_of(lists[l].values[i]);
      if (key == sought[l].prefix) at[l] += unit;
      if (key > sought[l].prefix && unit > 0) next[l] = std::max(next[l], -lists[l].values[i]);
    }
  context.together().sum(at, "weights at quantiles");
  context.together().largest(next, "the next larger values");
  for (size_t l = 0; l < lists.size(); ++l) out[l] = sought[l].value(at[l], next[l] > -kInfinity, key_of(-next[l]));
  return out;
}

// Losses become at most 2^50: then adding 1.5 * 2^52 rounds them to whole numbers, and a block of them fits a word.
constexpr int kLossBits = 50, kLossStep = 4;

// Weights span up to 36 bits: a light row with a large loss must not push the others off the grid.
constexpr int kWeightedLossBits = kLossBits + kWeightBits;

int loss_shift(double largest, const Weights& weights) {
  if (!(largest > 0)) return 0;
  int exponent = 0;
  std::frexp(largest, &exponent);
  const int steps = exponent >= 0 ? (exponent + kLossStep - 1) / kLossStep : -(-exponent / kLossStep);
  return (weights.given ? kWeightedLossBits : kLossBits) - steps * kLossStep;
}

double LossSum::largest() const {
  return kernels().largest_magnitude(rows_, values_);
}

Int128 LossSum::sum(const Weights& weights, size_t first_row) const {
  const bool plain = std::abs(shift_) < 1000;  // 2^shift is a normal number
  const double scale = plain ? scaled(1.0, shift_) : 0.0;
  if (plain && weights.uniform()) return kernels().sum_on_grid(rows_, values_, scale);
  const double limit = 0x1p88;  // if a value is larger, the grid does not fit and the sum is not used
  // In two pieces that each fit a word, because conversions to 128 bits are slow. The difference is exact, and what is
  // taken off is even, so the pieces add up to the nearest whole number, halves to even.
  constexpr int kLowBits = 40;
  constexpr double kLow = 0x1p40, kPerLow = 0x1p-40;
  Int128 high = 0, low = 0;
  for (size_t i = 0; i < rows_; ++i) {
    const double v = plain ? values_[i] * scale : scaled(values_[i], shift_);
    if (!(std::fabs(v) < limit)) continue;
    const auto above = truncated<std::int64_t>(v * kPerLow);
    const Int128 unit = weights.unit(first_row + i);
    high += unit * above;
    low += unit * std::llrint(v - real(above) * kLow);
  }
  return (high << kLowBits) + low;
}

std::unique_ptr<Loss> make_loss(const std::string& name, size_t outputs, double parameter) {
  if (name == "log_loss" && outputs > 1) return std::make_unique<Multinomial>(outputs);
  if (outputs > 1) {
    std::vector<std::unique_ptr<Loss>> own;
    for (size_t k = 0; k < outputs; ++k) own.push_back(make_loss(name, 1, parameter));
    return std::make_unique<SeveralOutputs>(std::move(own));
  }
  if (name == "log_loss") return std::make_unique<LogLoss>();
  if (name == "squared_error") return std::make_unique<SquaredError>();
  if (name == "absolute_error") return std::make_unique<AbsoluteError>();
  if (name == "quantile") return std::make_unique<Quantile>(parameter);
  if (name == "huber") return std::make_unique<Huber>(parameter);
  if (name == "poisson") return std::make_unique<Poisson>();
  if (name == "gamma") return std::make_unique<Gamma>();
  if (name == "cox") return std::make_unique<Cox>();
  if (name == "tweedie") return std::make_unique<Tweedie>(parameter);
  throw std::invalid_argument("no loss is called '" + name + "'");
}

}  // namespace frugal
