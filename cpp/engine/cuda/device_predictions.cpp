#include "engine/cuda/device_predictions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/cpu/direction.hpp"

namespace frugal::device {
namespace {

// What the formula of a loss needs beside y and raw predictions.
LossFormula formula_of(const LossKind& loss) {
  switch (loss.name) {
    case LossName::logistic:
      return {Formula::logistic, 0.0, 0.0};
    case LossName::softmax:
      return {Formula::softmax, 0.0, 0.0};
    case LossName::squared:
      return {Formula::squared, 0.0, 0.0};
    case LossName::absolute:
      return {Formula::absolute, 0.0, 0.0};
    case LossName::quantile:
      return {Formula::quantile, loss.first, 0.0};
    case LossName::huber:
      return {Formula::huber, loss.first, 0.0};
    case LossName::poisson:
      return {Formula::poisson, 0.0, 0.0};
    case LossName::gamma:
      return {Formula::gamma, 0.0, 0.0};
    case LossName::tweedie:
      return {Formula::tweedie, loss.first, loss.second};
    case LossName::other:
      break;
  }
  throw DeviceError("The GPU knows built-in losses only. Fit with one of these, or with device=\"cpu\".");
}

}  // namespace

DeviceRows::DeviceRows(Queue& queue, const Target& target, size_t outputs)
    : queue_(queue),
      target_(target),
      outputs_(outputs),
      y_(queue),
      raw_(queue, outputs * target.rows()),
      log_sum_(queue),
      units_(queue),
      found_(queue) {
  y_.set(target.y);
  if (!target.weights->uniform()) units_.set(target.weights->units);
  if (outputs > 1) log_sum_.make(target.rows());
}

void DeviceRows::fill(std::span<const double> constants) {
  for (size_t k = 0; k < constants.size(); ++k) queue_.launch_over(Fill{raw(k), count(), constants[k]}, count());
}

// As weighted_mean (loss/losses.hpp): a second time if the grid of the last call does not fit.
DeviceRows::Found DeviceRows::losses(const LossKind& loss, const double* raw, double* g, double* h) {
  const size_t words = LossOfRows::kOfOutput + 2 * outputs_;
  while (true) {
    LossOfRows kernel{formula_of(loss),
                      narrow<std::uint32_t>(outputs_),
                      count(),
                      y(),
                      raw,
                      units(),
                      log_sum_.data(),
                      g,
                      h,
                      {shift_, std::abs(shift_) < 1000, 0.0},
                      found_.zeros(words)};
    if (kernel.grid.plain) kernel.grid.scale = scaled(1.0, shift_);
    queue_.launch_over(kernel, count());
    const std::vector<Word> out = found_.get(words);
    Found found;
    for (size_t k = 0; k < outputs_; ++k) {
      found.largest_g.push_back(std::bit_cast<double>(out[LossOfRows::kOfOutput + 2 * k]));
      found.largest_h.push_back(std::bit_cast<double>(out[LossOfRows::kOfOutput + 2 * k + 1]));
    }
    const double largest = std::bit_cast<double>(out[LossOfRows::kLargest]);
    if (!(largest < kInfinity)) {
      found.mean = largest;
      return found;
    }
    if (const int fitting = loss_shift(largest, *target_.weights); shift_ != fitting) {
      shift_ = fitting;
      continue;
    }
    found.mean = scaled(real(wide(out.data())), -shift_) / real(target_.weights->total);
    return found;
  }
}

DevicePredictions::DevicePredictions(Queue& queue, const Target& train, const Sample* validation, Loss& loss,
                                     RawPredictions before)
    : queue_(queue),
      loss_(loss),
      before_(std::move(before)),
      weights_(*train.weights),
      train_(queue, train, loss.outputs()),
      g_(queue, train.rows() * loss.outputs()),
      h_(queue, train.rows() * loss.outputs()),
      there_(queue),
      there_g_(queue),
      there_h_(queue),
      combined_g_(queue),
      q_(queue),
      combined_q_(queue),
      there_q_(queue),
      words_(queue),
      keys_(queue),
      signs_(queue),
      gradients_(loss.outputs()) {
  if (validation) validation_ = std::make_unique<DeviceRows>(queue, validation->target, loss.outputs());
  q_.zeros(train.rows() * loss.outputs());
  for (size_t k = 0; k < gradients_.size(); ++k) {
    gradients_[k].q = q_.data() + k * train.rows();
    earlier_.push_back({Buffer<std::int32_t>(queue), 0, false});
  }
}

void DevicePredictions::set(std::span<const double> constants) {
  train_.fill(constants);
  if (validation_) validation_->fill(constants);
}

void DevicePredictions::set_as_before() {
  train_.set(before_.train);
  if (validation_) validation_->set(before_.validation);
}

Losses DevicePredictions::losses() {
  Losses out{0.0, std::numeric_limits<double>::quiet_NaN()};
  const LossKind kind = loss_.kind();
  if (validation_) out.validation = validation_->losses(kind, validation_->raw(0), nullptr, nullptr).mean;
  DeviceRows::Found found = train_.losses(kind, train_.raw(0), g_.data(), h_.data());
  out.train = found.mean;
  largest_g_ = std::move(found.largest_g);
  largest_h_ = std::move(found.largest_h);
  return out;
}

CommonGrid DevicePredictions::common_grid(int from, int to) {
  const int common = common_shift(from, to);
  auto up = [&](int shift) { return std::max(common - shift, 0); };
  auto down = [&](int shift) { return std::min(std::max(shift - common, 0), kMostShift); };
  return {up(from), down(from), up(to), down(to)};
}

void DevicePredictions::start(const double* g, double largest, std::int32_t* q, const Earlier* earlier, Word* out) {
  if (!std::isfinite(largest))
    throw std::domain_error("The loss gave a gradient that is not finite. Rescale y, or lower the learning rate.");
  const Grid grid(largest, kGradientBits);
  Quantize kernel{g, train_.count(), on_device(grid), train_.units(), q, nullptr, {}, out};
  if (earlier && earlier->known) {
    kernel.earlier = earlier->q.data();
    kernel.common = common_grid(earlier->shift, grid.shift());
  }
  queue_.launch_over(kernel, train_.count());
}

DeviceGradients DevicePredictions::finish(double largest, const std::int32_t* q, const Word* out) const {
  constexpr std::int64_t kMiddle = std::int64_t{1} << 31;
  DeviceGradients found;
  found.q = q;
  found.facts.shift = Grid(largest, kGradientBits).shift();
  found.facts.total = low_bits<std::int64_t>(out[Quantize::kTotal]);
  found.facts.lowest = narrow<std::int32_t>(kMiddle - low_bits<std::int64_t>(out[Quantize::kLowest]));
  found.facts.highest = narrow<std::int32_t>(low_bits<std::int64_t>(out[Quantize::kHighest]) - kMiddle);
  found.squares = wide(out + Quantize::kSquares);
  found.moved = wide(out + Quantize::kMoved);
  found.squared_move = wide(out + Quantize::kSquaredMove);
  return found;
}

DeviceGradients DevicePredictions::quantize(const double* g, double largest, std::int32_t* q) {
  start(g, largest, q, nullptr, words_.zeros(Quantize::kWords));
  return finish(largest, q, words_.get(Quantize::kWords).data());
}

void DevicePredictions::derive() {
  const size_t outputs = gradients_.size();
  words_.zeros(outputs * Quantize::kWords);
  auto q = [&](size_t k) { return q_.data() + k * train_.count(); };
  for (size_t k = 0; k < outputs; ++k)
    start(g(k), largest_g_[k], q(k), &earlier_[k], words_.data() + k * Quantize::kWords);
  const std::vector<Word> out = words_.get(outputs * Quantize::kWords);
  for (size_t k = 0; k < outputs; ++k) gradients_[k] = finish(largest_g_[k], q(k), out.data() + k * Quantize::kWords);
}

double DevicePredictions::impurity(size_t output) const {
  return impurity_of(gradients_[output].squares, gradients_[output].facts, weights_);
}

DevicePredictions::Sums DevicePredictions::change(const std::int32_t* from, int from_shift, const std::int32_t* to,
                                                  int to_shift, std::int64_t mean) {
  queue_.launch_over(Change{from, to, train_.count(), common_grid(from_shift, to_shift), mean, train_.units(),
                            words_.zeros(2 * kWideWords)},
                     train_.count());
  const std::vector<Word> out = words_.get(2 * kWideWords);
  return {wide(out.data()), wide(out.data() + kWideWords)};
}

double DevicePredictions::squared_move(const DeviceGradients& from, const DeviceGradients& to) {
  const Int128 sum = change(from.q, from.facts.shift, to.q, to.facts.shift, 0).sum;
  const auto mean = low_bits<std::int64_t>(sum / weights_.total);
  const Int128 squares = change(from.q, from.facts.shift, to.q, to.facts.shift, mean).squares;
  return spread_of(sum, mean, squares, common_shift(from.facts.shift, to.facts.shift), weights_);
}

Moved DevicePredictions::moved(std::span<const double> full, std::span<const double> step) {
  const size_t n = train_.count();
  there_.make(full.size() * n);
  words_.zeros(1);
  for (size_t k = 0; k < full.size(); ++k)
    queue_.launch_over(Shift{train_.raw(k), there_.data() + k * n, n, full[k], step[k], words_.data()}, n);
  Moved out;
  out.any = words_.get(1)[0] > 0;
  if (!out.any) return out;
  there_g_.make(full.size() * n);
  there_h_.make(full.size() * n);
  there_q_.make(n);
  const DeviceRows::Found found = train_.losses(loss_.kind(), there_.data(), there_g_.data(), there_h_.data());
  out.loss = found.mean;
  for (size_t k = 0; k < full.size(); ++k) {
    const DeviceGradients there = quantize(there_g_.data() + k * n, found.largest_g[k], there_q_.data());
    out.outputs.push_back({there.facts.constant(), impurity_of(there.squares, there.facts, weights_),
                           squared_move(gradients_[k], there)});
  }
  return out;
}

double DevicePredictions::move(size_t output) {
  Earlier& from = earlier_[output];
  DeviceGradients& to = gradients_[output];
  const size_t n = train_.count();
  double squares = kInfinity;
  if (from.known) {
    const double sum = real(to.moved), square = real(to.squared_move);
    // The 1e-9 covers rounding errors of `square`, which may remain when the difference cancels.
    const double spread = std::max(square - sum * sum / real(weights_.total), 0.0) + 1e-9 * square;
    squares = scaled(spread, -2 * common_shift(from.shift, to.facts.shift) - weights_.shift);
  }
  from.q.make(n);
  queue_.copy(from.q.data(), to.q, n * sizeof(std::int32_t));
  from.known = true;
  from.shift = to.facts.shift;
  to.moved = to.squared_move = 0;
  return std::sqrt(squares * kRoundingSlack) * kRoundingSlack;
}

DeviceGradients DevicePredictions::combine(std::span<const std::int8_t> signs) {
  double most = 0.0;
  for (const DeviceGradients& g : gradients_) most = std::max(most, largest_of_grid(g.facts));
  const Grid grid(most, kSumBits);
  const size_t n = train_.count();
  combined_g_.make(n);
  combined_q_.make(n);
  queue_.launch_over(Combine{g_.data(), n, narrow<std::uint32_t>(signs.size()), signs_.set(signs), on_device(grid),
                             length_of(signs), combined_g_.data(), words_.zeros(1)},
                     n);
  const double largest = std::bit_cast<double>(words_.get(1)[0]);
  return quantize(combined_g_.data(), largest, combined_q_.data());
}

std::vector<std::int64_t> DevicePredictions::probe(std::span<const std::uint64_t> keys, std::uint64_t number) {
  if (keys_.empty()) keys_.set(keys);
  const size_t outputs = gradients_.size();
  queue_.launch_over(Probe{q_.data(), train_.count(), narrow<std::uint32_t>(outputs), keys_.data(), number,
                           train_.units(), words_.zeros(outputs)},
                     train_.count());
  std::vector<std::int64_t> out;
  for (Word sum : words_.get(outputs)) out.push_back(low_bits<std::int64_t>(sum));
  return out;
}

}  // namespace frugal::device
