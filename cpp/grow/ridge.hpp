// Lines on given columns, all at once: the slopes that minimise the mean loss + l2 / 2 * the sum of squared slopes.
#pragma once

#include <vector>

#include "engine/engine.hpp"
#include "support/threads.hpp"

namespace frugal {

struct RidgeFit {
  std::vector<double> start;   // raw start value of each output
  std::vector<double> slopes;  // by output and column
  std::vector<double> gains;   // by column: what its lines explain of the gradients at the start
  double train_loss = 0.0, validation_loss = 0.0;
  double constant_loss = 0.0;  // validation loss of the start values
};

// One fit for each l2, in the order given; each starts from the one before, so falling values are fastest. `start`: raw
// start values; empty: the best constants.
std::vector<RidgeFit> fit_ridge(Engine& engine, std::span<const size_t> columns, std::span<const double> l2s,
                                std::vector<double> start, Context& context);

// For few rows: one Newton step from the constant, with `shrinkage` times the mean curvature added to the curvature of
// every slope. Its slopes are then stretched by one number, and the intercepts moved, to the least loss; a small
// penalty keeps the number finite. With log loss it is the direction of a linear discriminant with a shrunken
// covariance.
RidgeFit fit_one_step(Engine& engine, std::span<const size_t> columns, double shrinkage, std::vector<double> start,
                      Context& context);

}  // namespace frugal
