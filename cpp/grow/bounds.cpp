#include "grow/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "support/fixed_point.hpp"

namespace frugal {

double most_gain(const NodeSums& node, const GradientFacts& gradients, int weight_shift) {
  const Wide numerator = node.squares * node.weight - Wide{node.gradient} * node.gradient;
  const double spread = static_cast<double>(numerator) / static_cast<double>(node.weight);
  return scaled(0.5 * spread, -2 * gradients.shift - weight_shift) * kSafe;
}

// An infinite move leaves nothing of what was known.
void RootBounds::begin_trees(Engine& engine) {
  outputs_.resize(engine.outputs(), {0.0, std::vector<double>(columns_, kInfinity)});
  for (size_t k = 0; k < outputs_.size(); ++k) {
    const double move = engine.gradient_move(k);
    if (move < kInfinity) {
      outputs_[k].way += move;
    } else {
      outputs_[k] = {0.0, std::vector<double>(columns_, kInfinity)};
    }
  }
}

// The way is far longer than lengths in the end: what rounding may have taken from their difference is added.
double RootBounds::bound(size_t output, size_t column) const {
  const Output& own = outputs_[output];
  const double length = (own.length[column] + own.way + 1e-14 * own.way) * kSafe;
  return 0.5 * length * length * kSafe;
}

void RootBounds::know(size_t output, size_t column, double gain) {
  Output& own = outputs_[output];
  own.length[column] = std::sqrt(2.0 * std::max(gain, 0.0)) - own.way;
}

}  // namespace frugal
