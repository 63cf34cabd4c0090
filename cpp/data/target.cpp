#include "data/target.hpp"

#include <algorithm>
#include <cmath>

namespace frugal {

// The grid follows from the sum of all weights. It is computed on a finer grid: a sum of doubles would depend on their
// order, and could be on either side of a power of two.
Weights Weights::from(std::span<const double> weights, size_t n_rows, bool weighted, Together& together) {
  Weights out;
  out.weighted = out.given = weighted;
  out.rows = sum_of(together, narrow<std::int64_t>(n_rows), "rows");
  if (!weighted) {
    out.total = out.rows;
    return out;
  }
  double largest = 0.0;
  for (double w : weights) largest = std::max(largest, w);
  const Grid fine(largest_of(together, largest, "the largest weight"), kLeafBits);
  Int128 sum = 0;
  for (double w : weights) sum += fine.at(w);
  out.shift = grid_exponent(fine.back(sum_of(together, sum, "weights")), kWeightBits);
  for (double w : weights) {
    out.units.push_back(to_grid(w, out.shift));
    out.total += out.units.back();
  }
  out.total = sum_of(together, out.total, "weight units");
  return out;
}

}  // namespace frugal
