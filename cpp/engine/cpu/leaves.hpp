// What the leaves of a grown tree predict.
#pragma once

#include "grow/grower.hpp"
#include "loss/gradients.hpp"
#include "loss/losses.hpp"

namespace frugal {

// Sets tree.value of every leaf, learning rate included: a Newton step (sum w g / (sum w h + l2)), the mean
// of g, or a quantile of the residuals y - raw for losses without curvature.
void set_leaf_values(Tree& tree, std::span<const Leaf> leaves, const RowPartition& partition, const Target& target,
                     const double* raw, const Derivatives& d, const Loss& loss, const Params& params, Context& context);

// Adds every leaf's value to the raw predictions of its rows.
void add_leaf_values(const Tree& tree, std::span<const Leaf> leaves, const RowPartition& partition, double* raw,
                     Context& context);

}  // namespace frugal
