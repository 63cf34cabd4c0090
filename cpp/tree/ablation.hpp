// What an ensemble loses when it does not see some of its features.
#pragma once

#include <vector>

#include "loss/losses.hpp"
#include "price/prices.hpp"
#include "tree/predict.hpp"

namespace frugal {

// Mean loss on the rows of X as the model is, and then with each list of features hidden from it. Where a tree splits
// on a hidden feature, a row takes both ways, each as far as training rows took it (`weight` holds every node's). No
// row is shuffled, so the answer is not random.
std::vector<double> losses_without(const EnsembleView& model, std::span<const double> weight, const Source& X,
                                   const Target& target, Loss& loss, const Lists& hidden, size_t trees,
                                   Context& context);

}  // namespace frugal
