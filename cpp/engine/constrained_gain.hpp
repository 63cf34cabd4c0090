// The gain of a split where constraints hold, by the same operations on every device.
#pragma once

#include <cstdint>

#include "support/anywhere.hpp"
#include "support/convert.hpp"

namespace frugal {

// Exact sums of one side of a split, in units.
struct SideSums {
  std::int64_t gradient = 0, weight = 0;

  FRUGAL_ANYWHERE double mean() const { return real(gradient) / real(weight); }
  void add(const SideSums& more) {
    gradient += more.gradient;
    weight += more.weight;
  }
};

struct ScannedNode {
  std::int64_t gradient, weight;
  double factor;  // from squared grid units to gain
};

// As ValueRange (engine.hpp).
struct ValueLimits {
  double low, high;

  FRUGAL_ANYWHERE bool limited() const { return low > -__builtin_inf() || high < __builtin_inf(); }
  FRUGAL_ANYWHERE double value(double mean) const {
    const double raised = mean < low ? low : mean;
    return high < raised ? high : raised;
  }
};

// By how much 1/2 sum w (g - value)^2 falls if both sides have values of their own; 0: the split is not allowed.
// `most`: the gain without constraints.
FRUGAL_ANYWHERE inline double constrained_gain(const ScannedNode& node, const SideSums& left, const SideSums& right,
                                               double most, int trend, const ValueLimits& limits) {
  const double left_mean = left.mean(), right_mean = right.mean();
  const double l = limits.value(left_mean), r = limits.value(right_mean);
  if (l == r || trend * l > trend * r) return 0.0;
  if (l == left_mean && r == right_mean) return most;
  const double here = limits.value(real(node.gradient) / real(node.weight));
  double fall = real(left.weight) * (l - here) * ((left_mean - l) + (left_mean - here));
  fall = fall + real(right.weight) * (r - here) * ((right_mean - r) + (right_mean - here));
  const double gain = fall * (node.factor * real(node.weight));
  return gain < most ? gain : most;
}

}  // namespace frugal
