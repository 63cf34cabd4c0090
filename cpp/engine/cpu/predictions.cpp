#include "engine/cpu/predictions.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "support/kernels.hpp"
#include "support/limits.hpp"
#include "tree/predict.hpp"

namespace frugal {

Predictions::Predictions(const Target& train, const Sample* validation, Loss& loss, RawPredictions before,
                         Context& context)
    : train_(train),
      validation_(validation),
      loss_(loss),
      before_(std::move(before)),
      context_(context),
      gradients_(loss.outputs()),
      earlier_(loss.outputs()) {
  // The derivatives of all outputs are kept if they fit. The rows of all parts count, so that all parts decide alike.
  const double bytes = real(train.weights->rows) * real(2 * sizeof(double) * loss.outputs());
  d_.resize(bytes <= real(kDerivativesBytes) ? loss.outputs() : 1);
  for (Derivatives& d : d_) {
    d.g.resize(train.rows());
    d.h.resize(train.rows());
  }
}

void Predictions::set(std::span<const double> constants) {
  auto spread = [&](size_t rows, std::vector<double>& raw) {
    raw.clear();
    for (double c : constants) raw.insert(raw.end(), rows, c);
  };
  spread(train_.rows(), raw_);
  if (validation_) spread(validation_->target.rows(), validation_raw_);
  at_hand_ = false;
}

void Predictions::set_as_before() {
  raw_ = before_.train;
  validation_raw_ = before_.validation;
  at_hand_ = false;
}

Losses Predictions::losses() {
  Losses out{0.0, std::numeric_limits<double>::quiet_NaN()};
  // The training rows come last, because a loss keeps values for the derivatives that follow.
  if (validation_) out.validation = loss_.mean(validation_->target, validation_raw_.data(), context_);
  at_hand_ = loss_.at_once();
  out.train = at_hand_ ? loss_.mean_and_derivatives(train_, raw_.data(), d_[0], context_)
                       : loss_.mean(train_, raw_.data(), context_);
  return out;
}

// Computes the derivatives of an output, unless `losses` did. If those of all outputs do not fit, the last ones are
// kept.
Derivatives& Predictions::derive(size_t output) {
  Derivatives& d = d_[d_.size() > 1 ? output : 0];
  if (!at_hand_) {
    loss_.derivatives(train_, raw_.data(), output, d.g.data(), d.h.data(), context_);
    d.largest_g = d.largest_h = -1.0;
  }
  at_hand_ = false;
  return d;
}

const Derivatives& Predictions::derived(size_t output) {
  if (gradients_.size() > 1 && d_.size() == 1) return derive(output);
  return d_[output];
}

void Predictions::derive() {
  for (size_t k = 0; k < gradients_.size(); ++k) {
    const Derivatives& d = derive(k);
    set_gradients(d.g, d.largest_g, k, gradients_[k]);
  }
}

// The gradients of an output for the search, on its scale.
void Predictions::set_gradients(std::span<const double> g, double largest, size_t output, GridGradients& out) {
  const double scale = loss_.scale(output).search;
  if (scale == 1.0) return out.set(g, largest, *train_.weights, context_);
  std::vector<double> brought(g.size());
  context_.over_blocks(g.size(), kLossBlock, 1.0, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) brought[i] = scale * g[i];
  });
  out.set(brought, -1.0, *train_.weights, context_);
}

Moved Predictions::moved(std::span<const double> full, std::span<const double> step) {
  const size_t n = train_.rows();
  std::vector<double> there = raw_;
  std::int64_t changed = 0;
  for (size_t k = 0; k < full.size(); ++k)
    for (size_t i = k * n; i < (k + 1) * n; ++i) {
      changed += there[i] + step[k] != there[i];
      there[i] += full[k];
    }
  Moved out;
  out.any = sum_of(context_.together(), changed, "rows that move") > 0;
  if (!out.any) return out;
  out.loss = loss_.mean(train_, there.data(), context_);
  std::vector<double> g(n), h(n);
  for (size_t k = 0; k < full.size(); ++k) {
    loss_.derivatives(train_, there.data(), k, g.data(), h.data(), context_);
    GridGradients gradients;
    set_gradients(g, -1.0, k, gradients);
    out.outputs.push_back(
        {gradients.facts.constant(), gradients.impurity(*train_.weights, context_),
         squared_move(gradients_[k].q, gradients_[k].facts.shift, gradients, *train_.weights, context_)});
  }
  loss_.mean(train_, raw_.data(), context_);  // so that the loss keeps values for the derivatives at raw_ again
  return out;
}

double Predictions::move(size_t output) {
  Earlier& from = earlier_[output];
  const GridGradients& to = gradients_[output];
  if (from.known && context_.together().alone()) return fast_move(from, to);
  const double squares = from.known ? squared_move(from.q, from.shift, to, *train_.weights, context_) : kInfinity;
  from = {true, to.q, to.facts.shift};
  return std::sqrt(squares * kRoundingSlack) * kRoundingSlack;
}

// Sums of doubles, which depend on rounding: enough for a bound if no other part of the table needs the same number.
double Predictions::fast_move(Earlier& from, const GridGradients& to) const {
  constexpr size_t kBlock = 4096;
  const Weights& weights = *train_.weights;
  const size_t n = to.q.size();
  std::vector<double> sums((n + kBlock - 1) / kBlock), squares(sums.size());
  // Both in steps of the finer grid, so that differences are whole numbers that fit a double.
  const int finer = std::max(from.shift, to.facts.shift);
  const double old_scale = scaled(1.0, finer - from.shift), new_scale = scaled(1.0, finer - to.facts.shift);
  context_.over_blocks(n, kBlock, 1.0, [&](size_t begin, size_t end, size_t block) {
    if (weights.uniform()) {
      kernels().difference(end - begin, from.q.data() + begin, old_scale, to.q.data() + begin, new_scale, &sums[block],
                           &squares[block]);
      return;
    }
    for (size_t i = begin; i < end; ++i) {
      const double change = to.q[i] * new_scale - from.q[i] * old_scale, unit = real(weights.units[i]);
      sums[block] += unit * change;
      squares[block] += unit * change * change;
      from.q[i] = to.q[i];
    }
  });
  const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  const double square = std::accumulate(squares.begin(), squares.end(), 0.0);
  const double spread = square - sum * sum / real(weights.total);
  from.shift = to.facts.shift;
  // The 1e-9 covers rounding errors of `square`, which may remain when the difference cancels.
  return std::sqrt(scaled(std::max(spread, 0.0) + 1e-9 * square, -2 * finer - weights.shift)) * kRoundingSlack;
}

void Predictions::add_to_validation(size_t output, const Tree& tree) {
  if (validation_) frugal::add_tree(tree, validation_->X, {}, validation_raw(output), context_);
}

}  // namespace frugal
