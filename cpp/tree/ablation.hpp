// How much the loss of an ensemble grows if some of its features are hidden from it.
#pragma once

#include <vector>

#include "loss/losses.hpp"
#include "price/prices.hpp"
#include "tree/predict.hpp"

namespace frugal {

// Mean loss on the rows of X with all features, and then with each list of features hidden. Where a tree splits on a
// hidden feature, a row goes both ways, weighted by the training rows of each child (`weight`, by node). No values are
// shuffled, so the result is not random.
std::vector<double> losses_without(const EnsembleView& model, std::span<const double> weight, const Source& X,
                                   const Target& target, Loss& loss, const Lists& hidden, size_t trees,
                                   Context& context);

}  // namespace frugal
