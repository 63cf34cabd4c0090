#include "grow/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "support/fixed_point.hpp"

namespace frugal {

double most_gain(const NodeSums& node, const GradientFacts& gradients, int weight_shift) {
  const Int128 numerator = node.squares * node.weight - Int128{node.gradient} * node.gradient;
  const double spread = real(numerator) / real(node.weight);
  return scaled(0.5 * spread, -2 * gradients.shift - weight_shift) * kRoundingSlack;
}

// After an infinite move, nothing is known any more.
void RootBounds::begin_trees(Engine& engine, bool for_all, bool some_rows) {
  outputs_.resize(for_all ? 1 : engine.outputs(), {0.0, std::vector<double>(columns_, kInfinity)});
  for (size_t k = 0; k < outputs_.size(); ++k) {
    const double move = for_all || some_rows ? kInfinity : engine.gradient_move(k);
    if (move < kInfinity) {
      outputs_[k].way += move;
    } else {
      outputs_[k] = {0.0, std::vector<double>(columns_, kInfinity)};
    }
  }
}

// `way` becomes far larger than the lengths; the term with 1e-14 covers the rounding error of the differences.
double RootBounds::bound(size_t output, size_t column) const {
  const Output& own = outputs_[output];
  const double length = (own.length[column] + own.way + 1e-14 * own.way) * kRoundingSlack;
  return 0.5 * length * length * kRoundingSlack;
}

void RootBounds::record(size_t output, size_t column, double gain) {
  Output& own = outputs_[output];
  own.length[column] = std::sqrt(2.0 * std::max(gain, 0.0)) - own.way;
}

}  // namespace frugal
