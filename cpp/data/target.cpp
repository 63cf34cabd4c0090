#include "data/target.hpp"

#include <algorithm>
#include <cmath>

namespace frugal {

// The grid follows from the sum of all weights, which is taken on a finer grid: added as doubles it would depend on
// their order, and could fall on either side of a power of two.
Weights Weights::from(std::span<const double> weights, size_t n_rows, bool weighted, Together& together) {
  Weights out;
  out.weighted = weighted;
  out.rows = sum_of(together, static_cast<std::int64_t>(n_rows), "rows");
  if (!weighted) {
    out.total = out.rows;
    return out;
  }
  double largest = 0.0;
  for (double w : weights) largest = std::max(largest, w);
  const Grid fine(largest_of(together, largest, "the largest weight"), kLeafBits);
  Wide sum = 0;
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
