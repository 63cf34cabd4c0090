// The gradients of one tree on the integer grid, ready for histograms.
#pragma once

#include <vector>

#include "data/target.hpp"
#include "engine/cpu/node.hpp"
#include "support/threads.hpp"

namespace frugal {

// The largest magnitude in all parts of the table; not finite if one of the values is not.
double largest_magnitude(std::span<const double> values, Context& context);

struct GridGradients {
  std::vector<std::int32_t> q;  // gradient = q * 2^-facts.shift
  GradientFacts facts;

  // `largest`: the largest magnitude; negative: not known. Throws if a gradient is not finite.
  void set(std::span<const double> g, double largest, const Weights& weights, Context& context);

  // sum weight * q over some rows of this part of the table.
  std::int64_t over(std::span<const Row> rows, const Weights& weights, Context& context) const;

  // 1/2 sum w (g - mean)^2, from exact sums. Throws if it is too large for a double.
  double impurity(const Weights& weights, Context& context) const;

  // The factor from squared grid units to gain, for a node of this weight.
  double gain_factor(const Weights& weights, std::int64_t node_weight) const {
    return scaled(0.5, -2 * facts.shift - weights.shift) / real(node_weight);
  }
};

// sum w (change - mean change)^2, where change is the difference of the gradients; from exact sums.
double squared_move(std::span<const std::int32_t> from, int from_shift, const GridGradients& to, const Weights& weights,
                    Context& context);

// The parts of both that follow from sums alone.
double impurity_of(Int128 squares, const GradientFacts& facts, const Weights& weights);
int common_shift(int from, int to);    // of the grid to which two others are brought; no value is moved down further
inline constexpr int kMostShift = 40;  // than this
double spread_of(Int128 sum, std::int64_t mean, Int128 squares, int shift, const Weights& weights);

using AllGradients = std::span<const GridGradients>;  // by output

}  // namespace frugal
