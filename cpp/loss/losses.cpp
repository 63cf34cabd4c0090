#include "loss/losses.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "engine/cpu/kernels.hpp"
#include "support/portable_math.hpp"

namespace frugal {
namespace {

constexpr size_t kBlock = kLossBlock;

double exact_mean(const Target& target) {
  double largest = kernels().largest_magnitude(target.rows(), target.y.data());
  const Grid grid(largest, kLeafBits);
  Wide sum = 0;
  for (size_t i = 0; i < target.rows(); ++i) sum += static_cast<Wide>(target.weights->unit(i)) * grid.at(target.y[i]);
  return grid.back(sum) / static_cast<double>(target.weights->total);
}

std::int64_t weight_of_class(const Target& target, double k) {
  std::int64_t sum = 0;
  for (size_t i = 0; i < target.rows(); ++i)
    if (target.y[i] == k) sum += target.weights->unit(i);
  return sum;
}

double quantile_of(const Target& target, std::vector<double> values, double level) {
  return weighted_quantile(values, target.weights->units, level);
}

class LogLoss final : public Loss {
 public:
  std::vector<double> start(const Target& t, Context&) override {
    const std::int64_t ones = weight_of_class(t, 1.0), zeros = t.weights->total - ones;
    // The larger over the smaller: with the classes swapped, only the sign changes.
    const double odds = static_cast<double>(std::max(ones, zeros)) / static_cast<double>(std::min(ones, zeros));
    return {ones >= zeros ? portable_log(odds) : -portable_log(odds)};
  }
  double mean(const Target& t, const double* raw, Context& context) override {
    return weighted_mean(t, context, [&](size_t begin, size_t end, double* out) {
      kernels().logistic_losses(end - begin, t.y.data() + begin, raw + begin, out);
    });
  }
  void derivatives(const Target& t, const double* raw, int, double* g, double* h, Context& context) override {
    context.over_blocks(t.rows(), kBlock, 10.0, [&](size_t begin, size_t end, size_t) {
      double losses[kBlock];
      kernels().logistic(end - begin, t.y.data() + begin, raw + begin, g + begin, h + begin, losses);
    });
  }
  bool at_once() const override { return true; }
  double mean_and_derivatives(const Target& t, const double* raw, Derivatives& d, Context& context) override {
    const size_t blocks = (t.rows() + kBlock - 1) / kBlock;
    std::vector<double> largest_g(blocks), largest_h(blocks);
    const double mean = weighted_mean(t, context, [&](size_t begin, size_t end, double* out) {
      double *g = d.g.data() + begin, *h = d.h.data() + begin;
      kernels().logistic(end - begin, t.y.data() + begin, raw + begin, g, h, out);
      largest_g[begin / kBlock] = kernels().largest_magnitude(end - begin, g);
      largest_h[begin / kBlock] = kernels().largest_magnitude(end - begin, h);
    });
    d.largest_g = kernels().largest_magnitude(blocks, largest_g.data());
    d.largest_h = kernels().largest_magnitude(blocks, largest_h.data());
    return mean;
  }
  double step_limit() const override { return 36.0; }  // sigmoid(36) is 1 in double precision
};

class Multinomial final : public Loss {
 public:
  explicit Multinomial(int outputs) : outputs_(outputs) {}
  int outputs() const override { return outputs_; }
  std::vector<double> start(const Target& t, Context&) override {
    std::vector<double> out;
    for (int k = 0; k < outputs_; ++k) {
      double share = static_cast<double>(weight_of_class(t, k)) / static_cast<double>(t.weights->total);
      out.push_back(portable_log(std::max(share, 0x1p-52)));
    }
    return out;
  }
  double mean(const Target& t, const double* raw, Context& context) override {
    const size_t n = t.rows();
    log_sum_.resize(n);
    return weighted_mean(t, context, [&](size_t begin, size_t end, double* out) {
      kernels().log_sum_exp(end - begin, outputs_, raw + begin, n, log_sum_.data() + begin);
      for (size_t i = begin; i < end; ++i) out[i - begin] = log_sum_[i] - raw[static_cast<size_t>(t.y[i]) * n + i];
    });
  }
  void derivatives(const Target& t, const double* raw, int k, double* g, double* h, Context& context) override {
    const double* own = raw + static_cast<size_t>(k) * t.rows();
    context.over_blocks(t.rows(), kBlock, 10.0, [&](size_t begin, size_t end, size_t) {
      kernels().softmax_derivatives(end - begin, t.y.data() + begin, k, own + begin, log_sum_.data() + begin, g + begin,
                                    h + begin);
    });
  }
  double step_limit() const override { return 36.0; }

 private:
  int outputs_;
  std::vector<double> log_sum_;  // kept by mean(): the raw predictions of other classes may move before it is used
};

// Losses of one output whose value and derivatives are a formula of y and the raw prediction alone.
template <class Formula>
class RowwiseLoss : public Loss {
 public:
  double mean(const Target& t, const double* raw, Context& context) override {
    return weighted_mean(t, context, [&](size_t begin, size_t end, double* out) {
      for (size_t i = begin; i < end; ++i) out[i - begin] = formula().value(t.y[i], raw[i]);
    });
  }
  void derivatives(const Target& t, const double* raw, int, double* g, double* h, Context& context) override {
    context.over_blocks(t.rows(), kBlock, 4.0, [&](size_t begin, size_t end, size_t) {
      for (size_t i = begin; i < end; ++i) formula().derivative(t.y[i], raw[i], g[i], h[i]);
    });
  }

 private:
  const Formula& formula() const { return static_cast<const Formula&>(*this); }
};

class SquaredError final : public RowwiseLoss<SquaredError> {
 public:
  std::vector<double> start(const Target& t, Context&) override { return {exact_mean(t)}; }
  double value(double y, double f) const {
    double r = y - f;
    return 0.5 * r * r;
  }
  void derivative(double y, double f, double& g, double& h) const {
    g = y - f;
    h = 1.0;
  }
};

class Quantile final : public RowwiseLoss<Quantile> {
 public:
  explicit Quantile(double level) : level_(level) {}
  std::vector<double> start(const Target& t, Context&) override {
    return {quantile_of(t, {t.y.begin(), t.y.end()}, level_)};
  }
  double value(double y, double f) const {
    double r = y - f;
    return r > 0 ? level_ * r : (level_ - 1.0) * r;
  }
  void derivative(double y, double f, double& g, double& h) const {
    double r = y - f;
    g = r > 0 ? level_ : r < 0 ? level_ - 1.0 : 0.0;
    h = 1.0;
  }
  double leaf_quantile() const override { return level_; }

 private:
  double level_;
};

class AbsoluteError final : public RowwiseLoss<AbsoluteError> {
 public:
  std::vector<double> start(const Target& t, Context&) override {
    return {quantile_of(t, {t.y.begin(), t.y.end()}, 0.5)};
  }
  double value(double y, double f) const { return std::fabs(y - f); }
  void derivative(double y, double f, double& g, double& h) const {
    double r = y - f;
    g = r > 0 ? 1.0 : r < 0 ? -1.0 : 0.0;
    h = 1.0;
  }
  double leaf_quantile() const override { return 0.5; }
};

// Quadratic up to delta, linear beyond. The curvature is that of the quadratic that touches the loss and lies
// above it everywhere, so a full Newton step never overshoots.
class Huber final : public RowwiseLoss<Huber> {
 public:
  explicit Huber(double delta) : given_(delta) {}
  std::vector<double> start(const Target& t, Context&) override {
    double median = quantile_of(t, {t.y.begin(), t.y.end()}, 0.5);
    delta_ = given_;
    if (std::isnan(given_)) {
      std::vector<double> residual(t.rows());
      for (size_t i = 0; i < t.rows(); ++i) residual[i] = std::fabs(t.y[i] - median);
      double largest = kernels().largest_magnitude(residual.size(), residual.data());
      delta_ = quantile_of(t, std::move(residual), 0.9);
      if (delta_ == 0) delta_ = largest > 0 ? largest : 1.0;  // nine tenths of the rows agree: no outliers
    }
    return {median};
  }
  double value(double y, double f) const {
    double r = y - f, a = std::fabs(r);
    return a <= delta_ ? 0.5 * r * r : delta_ * (a - 0.5 * delta_);
  }
  void derivative(double y, double f, double& g, double& h) const {
    double r = y - f, a = std::fabs(r);
    g = a <= delta_ ? r : r > 0 ? delta_ : -delta_;
    h = a <= delta_ ? 1.0 : delta_ / a;
  }

 private:
  double given_, delta_ = 1.0;
};

// Counts, with a log link. The value leaves out the part that depends on y alone.
class Poisson final : public RowwiseLoss<Poisson> {
 public:
  std::vector<double> start(const Target& t, Context&) override { return {portable_log(exact_mean(t))}; }
  double value(double y, double f) const { return portable_exp(f) - y * f; }
  void derivative(double y, double f, double& g, double& h) const {
    h = portable_exp(f);
    g = y - h;
  }
  double step_limit() const override { return 10.0; }
};

}  // namespace

double weighted_quantile(std::span<double> values, std::span<const std::int64_t> units, double level) {
  if (units.empty()) {
    double target = level * static_cast<double>(values.size());
    size_t at = std::clamp<size_t>(static_cast<size_t>(std::ceil(target)), 1, values.size()) - 1;
    std::nth_element(values.begin(), values.begin() + at, values.end());
    if (static_cast<double>(at + 1) == target && at + 1 < values.size())
      return 0.5 * values[at] + 0.5 * *std::min_element(values.begin() + at + 1, values.end());
    return values[at];
  }
  std::vector<std::pair<double, std::int64_t>> pairs;
  std::int64_t total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    total += units[i];
    if (units[i] > 0) pairs.emplace_back(values[i], units[i]);
  }
  if (pairs.empty()) return 0.0;
  std::sort(pairs.begin(), pairs.end());
  double target = level * static_cast<double>(total);
  std::int64_t below = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    below += pairs[i].second;
    if (static_cast<double>(below) < target) continue;
    if (static_cast<double>(below) == target && i + 1 < pairs.size())
      return 0.5 * pairs[i].first + 0.5 * pairs[i + 1].first;
    return pairs[i].first;
  }
  return pairs.back().first;
}

std::unique_ptr<Loss> make_loss(const std::string& name, int outputs, double parameter) {
  if (name == "log_loss" && outputs > 1) return std::make_unique<Multinomial>(outputs);
  if (name == "log_loss") return std::make_unique<LogLoss>();
  if (name == "squared_error") return std::make_unique<SquaredError>();
  if (name == "absolute_error") return std::make_unique<AbsoluteError>();
  if (name == "quantile") return std::make_unique<Quantile>(parameter);
  if (name == "huber") return std::make_unique<Huber>(parameter);
  if (name == "poisson") return std::make_unique<Poisson>();
  throw std::invalid_argument("no loss is called '" + name + "'");
}

}  // namespace frugal
