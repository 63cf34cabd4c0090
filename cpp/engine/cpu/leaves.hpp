// The leaves of a grown tree: sums and quantiles over their rows, and adding their values to predictions.
#pragma once

#include "engine/cpu/partition.hpp"
#include "loss/losses.hpp"

namespace frugal {

// Sums of w * g and w * h over the rows of every leaf, on a grid far finer than that of the gradients in histograms.
std::vector<LeafSums> sums_of_leaves(std::span<const OpenNode> leaves, const RowPartition& partition,
                                     const Weights& weights, const Derivatives& d, Context& context);

// A quantile of the residuals y - raw in every leaf.
std::vector<double> quantiles_of_leaves(std::span<const OpenNode> leaves, const RowPartition& partition,
                                        std::span<const double> y, const Weights& weights, const double* raw,
                                        double level, Context& context);

// Adds every leaf's value to the raw predictions of its rows.
void add_leaf_values(std::span<const OpenNode> leaves, const RowPartition& partition, std::span<const double> values,
                     double* raw, Context& context);

}  // namespace frugal
