// One tree for all outputs: its splits are searched on a sum of all gradients with signs, a random direction among the
// outputs.
#pragma once

#include <vector>

#include "engine/cpu/predictions.hpp"

namespace frugal {

// For each output the sum of weight unit * q * z over all rows of all parts. z is 1 or -1: a bit that follows from the
// row's key and the number.
std::vector<std::int64_t> probe(AllGradients gradients, std::span<const std::uint64_t> row_keys, std::uint64_t number,
                                const Weights& weights, Context& context);

// The sum over outputs of sign * gradient, of every row, divided by the root of the number of signs that are not 0. All
// gradients are rounded to one grid first, so the order of the outputs does not matter.
void combine(Predictions& predictions, std::span<const std::int8_t> signs, const Weights& weights, Context& context,
             GridGradients& out);

// For engines that do the same elsewhere: the bits of that grid, a bound on the magnitudes of gradients on their own
// grid, up to a factor of two, and the divisor.
inline constexpr int kSumBits = 40;  // sums of up to 2^13 outputs are doubles without rounding
double largest_of_grid(const GradientFacts& facts);
double length_of(std::span<const std::int8_t> signs);

}  // namespace frugal
