#include "grow/ridge.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "grow/lines.hpp"
#include "support/fixed_point.hpp"

namespace frugal {
namespace {

constexpr int kMostSteps = 30, kMostHalvings = 12;
constexpr double kShortStep = 1e-6;   // all slopes move by less: the minimum is reached
constexpr double kSame = 1e-9;        // losses that differ by less, relatively, are the same
constexpr double kSmallMatrix = 4e6;  // products that make a matrix cheap enough to be computed in every step
constexpr double kStretch = 0.01;     // what the variance of what lines say weighs against the mean loss, times 1/2

// Solves A x = b for a symmetric, positive definite A, given row after row up to the diagonal. False if it is not.
bool solve(std::vector<double> a, std::vector<double>& x) {
  const size_t n = x.size();
  auto at = [&](size_t i, size_t j) -> double& { return a[i * (i + 1) / 2 + j]; };
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) {
      double sum = at(i, j);
      for (size_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
      if (i != j) {
        at(i, j) = sum / at(j, j);
      } else if (sum > 0) {
        at(i, i) = std::sqrt(sum);
      } else {
        return false;
      }
    }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) x[i] -= at(i, k) * x[k];
    x[i] /= at(i, i);
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) x[i] -= at(k, i) * x[k];
    x[i] /= at(i, i);
  }
  return true;
}

// A sum over outputs in ascending order, so that it does not depend on the order of classes.
double sum_in_order(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The intercept and the slopes of one output.
using Coefficients = std::vector<double>;

double squared(const Coefficients& c) {
  double sum = 0.0;
  for (size_t i = 1; i < c.size(); ++i) sum += c[i] * c[i];
  return sum;
}

// How what an output's intercept and lines say curves the mean loss, when both are stretched: the entries of a
// symmetric matrix of two rows, from the matrix of curvatures of the intercept and all slopes.
struct Stretched {
  double intercept = 0.0, both = 0.0, lines = 0.0;

  Stretched(const std::vector<double>& a, const Coefficients& direction) : intercept(a[0]) {
    for (size_t i = 1, at = 1; i < direction.size(); ++i) {
      both += direction[i] * a[at++];
      for (size_t j = 1; j <= i; ++j) lines += (i == j ? 1.0 : 2.0) * direction[i] * direction[j] * a[at++];
    }
  }

  double variance() const {
    return intercept > 0 ? std::max(0.0, lines / intercept - (both / intercept) * (both / intercept)) : 0.0;
  }
};

class Ridge {
 public:
  Ridge(Engine& engine, std::span<const size_t> columns, std::vector<double> start)
      : engine_(engine),
        columns_(columns),
        start_(std::move(start)),
        now_(engine.outputs(), Coefficients(columns.size() + 1)),
        matrices_(engine.outputs()) {
    if (engine.leaf_quantile() >= 0) throw std::invalid_argument("This loss has no curvature, which a ridge needs.");
    if (start_.empty()) start_ = engine_.best_constant();
    engine_.predict(start_);
    losses_ = engine_.losses();
    constant_loss_ = losses_.validation;
    engine_.derive();
    add_gains();
    for (size_t k = 0; k < outputs(); ++k) scales_.push_back(engine_.scale(k));
    const std::vector<double> ones(outputs(), 1.0);
    shared_ = together() && std::fabs(engine_.moved(ones, ones).loss - losses_.train) <= kSame * losses_.train;
  }

  RidgeFit fit(double l2, Context& context) {
    const Penalties penalties(outputs(), l2);
    minimise(penalties, context, [&] { return newton(penalties); });
    return result();
  }

  // One Newton step from the constant says how the slopes compare; how far to go that way is a fit of two numbers.
  RidgeFit fit_one_step(double shrinkage, Context& context) {
    Penalties penalties;
    for (size_t k = 0; k < outputs(); ++k) penalties.push_back(shrinkage * mean_curvatures(k)[0]);
    std::vector<Coefficients> direction = newton(penalties);
    if (shared_) centre(direction);
    for (size_t k = 0; k < outputs(); ++k) {
      const double size = squared(direction[k]), variance = Stretched(mean_curvatures(k), direction[k]).variance();
      penalties[k] = size > 0 ? kStretch * variance / size : 0.0;
    }
    minimise(penalties, context, [&] { return along(direction, penalties); });
    return result();
  }

 private:
  using Penalties = std::vector<double>;  // on squared slopes, by output

  size_t outputs() const { return now_.size(); }

  // Takes steps as long as they lower the penalised loss and move anything.
  template <class Step>
  void minimise(const Penalties& penalties, Context& context, const Step& next) {
    for (auto& matrix : matrices_) matrix.clear();
    for (int i = 0; i < kMostSteps; ++i) {
      context.poll();
      engine_.derive();
      std::vector<Coefficients> step = next();
      if (shared_) centre(step);
      if (!descend(step, penalties)) break;
      double longest = 0.0;
      for (const Coefficients& c : step)
        for (double v : c) longest = std::max(longest, std::fabs(v));
      if (longest < kShortStep) break;
    }
  }

  void add_gains() {
    const std::vector<ScoreSums> scores = engine_.score_sums(columns_);
    std::vector<std::vector<double>> gains(columns_.size());  // by column and output
    for (size_t k = 0; k < outputs(); ++k) {
      const std::vector<Int128> products = engine_.score_gradients(k, columns_);
      const GradientFacts g = engine_.gradients(k);
      const NodeSums all{engine_.table().rows, engine_.table().weight, g.total, 0};
      for (size_t i = 0; i < columns_.size(); ++i)
        gains[i].push_back(
            std::max(0.0, line_gain(products[i], scores[i], all, g.shift, engine_.table().weight_shift)));
    }
    for (auto& own : gains) gains_.push_back(sum_in_order(std::move(own)));
  }

  // Curvatures of the mean loss: of the intercept and all slopes, row after row up to the diagonal.
  std::vector<double> mean_curvatures(size_t output) {
    const double cells = real(engine_.table().rows) * real(columns_.size()) * real(columns_.size());
    auto& matrix = matrices_[output];
    if (matrix.empty() || cells <= kSmallMatrix) matrix = engine_.curvatures(output, columns_);
    std::vector<double> a = matrix;
    for (double& v : a) v /= real(engine_.table().weight);
    a[0] = std::max(a[0], kLeastCurvature);  // keeps the intercept finite where no row has any
    return a;
  }

  // How the mean loss falls with the intercept and each slope, without the penalty.
  Coefficients descents(size_t output) {
    if (!(scales_[output].search > 0)) return Coefficients(columns_.size() + 1);  // it is constant
    const double weight = real(engine_.table().weight) * scales_[output].search;
    const GradientFacts g = engine_.gradients(output);
    Coefficients out{scaled(real(g.total), -g.shift) / weight};
    for (const Int128 product : engine_.score_gradients(output, columns_))
      out.push_back(scaled(real(product), -g.shift - kScoreBits) / weight);
    return out;
  }

  // Whether outputs are classes, whose predictions depend on each other. Columns of y do not.
  bool together() const { return outputs() > 1 && engine_.table().targets == 1; }

  // Steps of several classes at once are shorter: each is computed as if the others stood still.
  double share() const { return together() ? 1.0 - 1.0 / real(outputs()) : 1.0; }

  std::vector<Coefficients> newton(const Penalties& penalties) {
    std::vector<Coefficients> out;
    for (size_t k = 0; k < outputs(); ++k) out.push_back(newton(k, penalties[k]));
    return out;
  }

  // The full step of an output: (curvatures + l2) step = gradients - l2 slopes, in the unit of the mean loss.
  Coefficients newton(size_t output, double l2) {
    std::vector<double> a = mean_curvatures(output);
    Coefficients step = descents(output);
    for (size_t i = 0; i < columns_.size(); ++i) {
      step[i + 1] -= l2 * now_[output][i + 1];
      a[(i + 1) * (i + 2) / 2 + i + 1] += l2 + kLeastCurvature;
    }
    if (!solve(std::move(a), step)) std::fill(step.begin(), step.end(), 0.0);
    const double longest = engine_.step_limit(), factor = share();
    for (double& v : step) v = std::clamp(factor * v, -longest, longest);
    return step;
  }

  // How far all slopes go: the same for all classes, and for each column of y as far as is best for it.
  std::vector<double> stretches(std::vector<double> gradients, std::vector<double> curvatures) const {
    auto stretch = [&](double gradient, double curvature) {
      return curvature > 0 ? share() * gradient / curvature : 0.0;
    };
    std::vector<double> out;
    if (engine_.table().targets > 1) {
      for (size_t k = 0; k < outputs(); ++k) out.push_back(stretch(gradients[k], curvatures[k]));
    } else {
      out.assign(outputs(), stretch(sum_in_order(std::move(gradients)), sum_in_order(std::move(curvatures))));
    }
    return out;
  }

  // The step in which slopes are stretched, and every intercept moves as it likes.
  std::vector<Coefficients> along(const std::vector<Coefficients>& direction, const Penalties& penalties) {
    std::vector<double> gradients, curvatures;
    std::vector<Coefficients> out;
    std::vector<Stretched> stretched;
    for (size_t k = 0; k < outputs(); ++k) {
      const Coefficients falls = descents(k);
      const Stretched& own = stretched.emplace_back(mean_curvatures(k), direction[k]);
      double gradient = 0.0;
      for (size_t i = 1; i < falls.size(); ++i) gradient += direction[k][i] * (falls[i] - penalties[k] * now_[k][i]);
      gradients.push_back(gradient - own.both / own.intercept * falls[0]);
      curvatures.push_back(own.lines - own.both / own.intercept * own.both + penalties[k] * squared(direction[k]));
      out.push_back({falls[0]});
    }
    const double longest = engine_.step_limit();
    const std::vector<double> all = stretches(std::move(gradients), std::move(curvatures));
    for (size_t k = 0; k < outputs(); ++k) {
      const Stretched& own = stretched[k];
      const double stretch = all[k];
      out[k][0] = std::clamp((share() * out[k][0] - own.both * stretch) / own.intercept, -longest, longest);
      for (size_t i = 1; i < direction[k].size(); ++i) out[k].push_back(stretch * direction[k][i]);
    }
    return out;
  }

  // Takes out what the steps of all outputs share. It changes no loss, and only the penalty would bring it back,
  // slowly.
  static void centre(std::vector<Coefficients>& steps) {
    for (size_t i = 0; i < steps[0].size(); ++i) {
      std::vector<double> own;
      for (const Coefficients& step : steps) own.push_back(step[i]);
      const double mean = sum_in_order(own) / real(steps.size());
      for (Coefficients& step : steps) step[i] -= mean;
    }
  }

  double penalised(double loss, const Penalties& penalties) const {
    std::vector<double> squares;
    for (size_t k = 0; k < outputs(); ++k) squares.push_back(scales_[k].loss * penalties[k] * squared(now_[k]));
    return loss + 0.5 * sum_in_order(std::move(squares));
  }

  void move(const std::vector<Coefficients>& step, double share) {
    for (size_t k = 0; k < outputs(); ++k)
      for (size_t i = 0; i < step[k].size(); ++i) now_[k][i] += share * step[k][i];
    predict();
  }

  // Raw predictions from the coefficients, line by line as a model adds them.
  void predict() {
    std::vector<double> start;
    for (size_t k = 0; k < outputs(); ++k) start.push_back(start_[k] + now_[k][0]);
    engine_.predict(start);
    for (size_t i = 0; i < columns_.size(); ++i)
      for (size_t k = 0; k < outputs(); ++k) engine_.add_line(k, columns_[i], 0.0, now_[k][i + 1]);
    losses_ = engine_.losses();
  }

  // Takes the step, or a part of it, if that lowers the penalised loss.
  bool descend(std::vector<Coefficients>& step, const Penalties& penalties) {
    const double before = penalised(losses_.train, penalties);
    const std::vector<Coefficients> from = now_;
    double share = 1.0;
    for (int i = 0; i < kMostHalvings; ++i, share *= 0.5) {
      now_ = from;
      move(step, share);
      if (penalised(losses_.train, penalties) < before) return true;
    }
    now_ = from;
    predict();
    return false;
  }

  RidgeFit result() const {
    RidgeFit out;
    for (size_t k = 0; k < outputs(); ++k) {
      out.start.push_back(start_[k] + now_[k][0]);
      out.slopes.insert(out.slopes.end(), now_[k].begin() + 1, now_[k].end());
    }
    out.gains = gains_;
    out.train_loss = losses_.train;
    out.validation_loss = losses_.validation;
    out.constant_loss = constant_loss_;
    return out;
  }

  static constexpr double kLeastCurvature = 1e-9;

  Engine& engine_;
  std::span<const size_t> columns_;
  std::vector<double> start_;
  std::vector<Coefficients> now_;              // by output
  std::vector<std::vector<double>> matrices_;  // of curvatures, by output
  std::vector<double> gains_;
  std::vector<OutputScale> scales_;  // by output
  Losses losses_{};
  double constant_loss_ = 0.0;
  bool shared_ = false;  // the same number added to all outputs changes no loss
};

}  // namespace

std::vector<RidgeFit> fit_ridge(Engine& engine, std::span<const size_t> columns, std::span<const double> l2s,
                                std::vector<double> start, Context& context) {
  Ridge ridge(engine, columns, std::move(start));
  std::vector<RidgeFit> out;
  for (double l2 : l2s) out.push_back(ridge.fit(l2, context));
  return out;
}

RidgeFit fit_one_step(Engine& engine, std::span<const size_t> columns, double shrinkage, std::vector<double> start,
                      Context& context) {
  return Ridge(engine, columns, std::move(start)).fit_one_step(shrinkage, context);
}

}  // namespace frugal
