#include "engine/cpu/leaves.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/cpu/gradients.hpp"
#include "support/chunks.hpp"
#include "support/limits.hpp"

namespace frugal {
namespace {

auto rows_of(const RowPartition& partition) {
  return [&partition](const OpenNode& leaf) { return partition.rows(leaf); };
}

Int128 sum_of_rows(std::span<const Row> rows, const double* v, const Grid& given, const Weights& weights) {
  const Grid grid = given;  // a copy that the compiler can keep in registers
  Int128 total = 0;
  if (grid.plain() && weights.uniform()) {
    for (Row row : rows) total += std::llrint(v[row] * grid.scale());
  } else {
    for (Row row : rows) total += Int128{weights.unit(row)} * grid.at(v[row]);
  }
  return total;
}

}  // namespace

std::vector<LeafSums> sums_of_leaves(std::span<const OpenNode> leaves, const RowPartition& partition,
                                     const Weights& weights, const Derivatives& d, Context& context) {
  const size_t rows = d.g.size(), blocks = (rows + kLeafRows - 1) / kLeafRows;
  auto grid_of = [&](const std::vector<double>& values, double largest) {
    return Grid(largest < 0 ? largest_magnitude(values, context) : largest, kLeafBits);
  };
  const Grid of_g = grid_of(d.g, d.largest_g), of_h = grid_of(d.h, d.largest_h);
  std::vector<std::array<Int128, 2>> part(blocks * leaves.size());
  context.over_blocks(rows, kLeafRows, 8.0, [&](size_t begin, size_t end, size_t block) {
    in_block(leaves, begin, end, rows_of(partition), [&](size_t leaf, std::span<const Row> own) {
      part[block * leaves.size() + leaf] = {sum_of_rows(own, d.g.data(), of_g, weights),
                                            sum_of_rows(own, d.h.data(), of_h, weights)};
    });
  });
  std::vector<Int128> sums(2 * leaves.size());
  for (size_t i = 0; i < part.size(); ++i)
    for (size_t k = 0; k < 2; ++k) sums[2 * (i % leaves.size()) + k] += part[i][k];
  sum_all(context.together(), sums, "leaf sums");
  std::vector<LeafSums> out;
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf)
    out.push_back({of_g.back(sums[2 * leaf]), of_h.back(sums[2 * leaf + 1]), real(leaves[leaf].sums.weight)});
  return out;
}

std::vector<double> quantiles_of_leaves(std::span<const OpenNode> leaves, const RowPartition& partition,
                                        std::span<const double> y, const Weights& weights, const double* raw,
                                        double level, Context& context) {
  std::vector<Weighted> residuals(leaves.size());
  context.parallel_for(leaves.size(), 4.0 * real(y.size()), [&](size_t l, size_t) {
    for (Row row : partition.rows(leaves[l])) {
      residuals[l].values.push_back(y[row] - raw[row]);
      if (weights.weighted) residuals[l].units.push_back(weights.units[row]);
    }
  });
  return weighted_quantiles(residuals, level, context);
}

void add_leaf_values(std::span<const OpenNode> leaves, const RowPartition& partition, std::span<const double> values,
                     double* raw, Context& context) {
  context.over_blocks(partition.table_rows(), kLeafRows, 1.0, [&](size_t begin, size_t end, size_t) {
    in_block(leaves, begin, end, rows_of(partition), [&](size_t leaf, std::span<const Row> rows) {
      for (Row row : rows) raw[row] += values[leaf];
    });
  });
}

}  // namespace frugal
