// Raw predictions, losses, derivatives and gradients on the device.
#pragma once

#include "engine/cpu/predictions.hpp"
#include "engine/cuda/device.hpp"

namespace frugal::device {

// Targets and weights of some rows, and their raw predictions, output after output.
class DeviceRows {
 public:
  DeviceRows(Queue& queue, const Target& target, size_t outputs);

  size_t count() const { return target_.rows(); }
  const Target& target() const { return target_; }
  const double* y() const { return y_.data(); }
  const std::int64_t* units() const { return units_.empty() ? nullptr : units_.data(); }  // nullptr: all 1
  double* raw(size_t output) const { return raw_.data() + output * count(); }
  std::vector<double> raw_values() const { return raw_.get(outputs_ * count()); }
  void fill(std::span<const double> constants);
  void set(std::span<const double> raw) { raw_.set(raw); }

  // The mean loss at `raw`, and, if g and h are given, the derivatives there with their largest magnitudes.
  struct Found {
    double mean = 0.0;
    std::vector<double> largest_g, largest_h;  // by output
  };
  Found losses(const LossKind& loss, const double* raw, double* g, double* h);

 private:
  Queue& queue_;
  Target target_;
  size_t outputs_;
  Buffer<double> y_, raw_, log_sum_;
  Buffer<std::int64_t> units_;
  Buffer<Word> found_;
  int shift_ = 0;  // of the last sum of losses
};

// The gradients of a tree on their grid.
struct DeviceGradients {
  GradientFacts facts;
  Int128 squares = 0;
  Int128 moved = 0, squared_move = 0;  // sums of weight * change and of its square, since the last call of `move`
  const std::int32_t* q = nullptr;
};

class DevicePredictions {
 public:
  DevicePredictions(Queue& queue, const Target& train, const Sample* validation, Loss& loss, RawPredictions before);

  void set(std::span<const double> constants);
  void set_as_before();
  Losses losses();
  void derive();
  const std::vector<DeviceGradients>& gradients() const { return gradients_; }
  double impurity(size_t output) const;
  Moved moved(std::span<const double> full, std::span<const double> step);
  double move(size_t output);
  // The gradients of the tree of all outputs.
  DeviceGradients combine(std::span<const std::int8_t> signs);
  std::vector<std::int64_t> probe(std::span<const std::uint64_t> keys, std::uint64_t number);

  DeviceRows& train() { return train_; }
  DeviceRows* validation() { return validation_.get(); }
  const double* g(size_t output) const { return g_.data() + output * train_.count(); }
  const double* h(size_t output) const { return h_.data() + output * train_.count(); }
  double largest_g(size_t output) const { return largest_g_[output]; }
  double largest_h(size_t output) const { return largest_h_[output]; }

 private:
  struct Sums {
    Int128 sum, squares;
  };
  struct Earlier;
  void start(const double* g, double largest, std::int32_t* q, const Earlier* earlier, Word* out);
  DeviceGradients finish(double largest, const std::int32_t* q, const Word* out) const;
  DeviceGradients quantize(const double* g, double largest, std::int32_t* q);
  static CommonGrid common_grid(int from, int to);
  Sums change(const std::int32_t* from, int from_shift, const std::int32_t* to, int to_shift, std::int64_t mean);
  double squared_move(const DeviceGradients& from, const DeviceGradients& to);

  Queue& queue_;
  Loss& loss_;
  RawPredictions before_;
  const Weights& weights_;
  DeviceRows train_;
  std::unique_ptr<DeviceRows> validation_;
  Buffer<double> g_, h_, there_, there_g_, there_h_, combined_g_;
  Buffer<std::int32_t> q_, combined_q_, there_q_;
  Buffer<Word> words_, keys_;
  Buffer<std::int8_t> signs_;
  std::vector<double> largest_g_, largest_h_;
  std::vector<DeviceGradients> gradients_;  // by output
  struct Earlier {
    Buffer<std::int32_t> q;
    int shift = 0;
    bool known = false;
  };
  std::vector<Earlier> earlier_;  // in the last call of `move`, by output
};

}  // namespace frugal::device
