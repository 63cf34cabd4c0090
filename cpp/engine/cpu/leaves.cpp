#include "engine/cpu/leaves.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "support/chunks.hpp"
#include "support/limits.hpp"

namespace frugal {
namespace {

auto rows_of(const RowPartition& partition) {
  return [&partition](const Leaf& leaf) { return std::span(partition.rows(leaf.rows), leaf.rows.rows()); };
}

// Exact sums of w * v over every leaf, on a grid far finer than the gradients of the histograms; for several v at once.
template <size_t Count>
std::array<std::vector<double>, Count> leaf_sums(std::span<const Leaf> leaves, const RowPartition& partition,
                                                 const Weights& weights,
                                                 const std::array<std::span<const double>, Count>& values,
                                                 const std::array<double, Count>& largest, Context& context) {
  const size_t rows = values[0].size(), blocks = (rows + kLeafRows - 1) / kLeafRows;
  std::vector<Grid> grids;
  for (size_t k = 0; k < Count; ++k)
    grids.emplace_back(largest[k] < 0 ? largest_of(values[k], context) : largest[k], kLeafBits);
  std::vector<std::array<Wide, Count>> part(blocks * leaves.size());
  context.over_blocks(rows, kLeafRows, 4.0 * Count, [&](size_t begin, size_t end, size_t block) {
    in_block(leaves, begin, end, rows_of(partition), [&](size_t leaf, std::span<const Row> own) {
      for (size_t k = 0; k < Count; ++k) {
        const double* v = values[k].data();
        const Grid grid = grids[k];
        Wide total = 0;
        if (grid.plain() && weights.uniform()) {
          for (Row row : own) total += std::llrint(v[row] * grid.scale());
        } else {
          for (Row row : own) total += static_cast<Wide>(weights.unit(row)) * grid.at(v[row]);
        }
        part[block * leaves.size() + leaf][k] = total;
      }
    });
  });
  std::array<std::vector<double>, Count> out;
  for (size_t k = 0; k < Count; ++k)
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      Wide sum = 0;
      for (size_t block = 0; block < blocks; ++block) sum += part[block * leaves.size() + leaf][k];
      out[k].push_back(grids[k].back(sum));
    }
  return out;
}

// Newton steps, or means of the gradient.
std::vector<double> gradient_steps(std::span<const Leaf> leaves, const RowPartition& partition, const Target& target,
                                   const Derivatives& d, const Loss& loss, const Params& params, Context& context) {
  const Weights& weights = *target.weights;
  std::vector<double> steps, below;
  if (params.leaf_values == LeafValues::newton) {
    auto sums = leaf_sums<2>(leaves, partition, weights, {d.g, d.h}, {d.largest_g, d.largest_h}, context);
    steps = std::move(sums[0]);
    below = std::move(sums[1]);
    for (double& b : below) b += scaled(params.l2_regularization, weights.shift);
  } else {
    steps = std::move(leaf_sums<1>(leaves, partition, weights, {d.g}, {d.largest_g}, context)[0]);
    for (const auto& leaf : leaves) below.push_back(static_cast<double>(leaf.rows.weight));
  }
  for (size_t i = 0; i < leaves.size(); ++i)
    steps[i] = std::clamp(below[i] > 0 ? steps[i] / below[i] : 0.0, -loss.step_limit(), loss.step_limit());
  return steps;
}

std::vector<double> residual_quantiles(std::span<const Leaf> leaves, const RowPartition& partition,
                                       const Target& target, const double* raw, double level, Context& context) {
  std::vector<double> out(leaves.size());
  context.parallel_for(leaves.size(), 20.0 * static_cast<double>(target.rows()), [&](size_t l, int) {
    const OpenNode& leaf = leaves[l].rows;
    const Row* rows = partition.rows(leaf);
    std::vector<double> residual(leaf.rows());
    std::vector<std::int64_t> units(target.weights->uniform() ? 0 : leaf.rows());
    for (Row i = 0; i < leaf.rows(); ++i) residual[i] = target.y[rows[i]] - raw[rows[i]];
    for (size_t i = 0; i < units.size(); ++i) units[i] = target.weights->units[rows[i]];
    out[l] = weighted_quantile(residual, units, level);
  });
  return out;
}

}  // namespace

void set_leaf_values(Tree& tree, std::span<const Leaf> leaves, const RowPartition& partition, const Target& target,
                     const double* raw, const Derivatives& d, const Loss& loss, const Params& params,
                     Context& context) {
  const auto values = loss.leaf_quantile() >= 0
                          ? residual_quantiles(leaves, partition, target, raw, loss.leaf_quantile(), context)
                          : gradient_steps(leaves, partition, target, d, loss, params, context);
  for (size_t i = 0; i < leaves.size(); ++i)
    tree.value[static_cast<size_t>(leaves[i].node)] = params.learning_rate * values[i];
}

void add_leaf_values(const Tree& tree, std::span<const Leaf> leaves, const RowPartition& partition, double* raw,
                     Context& context) {
  size_t rows_in_all = 0;
  for (const auto& leaf : leaves) rows_in_all += leaf.rows.rows();
  context.over_blocks(rows_in_all, kLeafRows, 1.0, [&](size_t begin, size_t end, size_t) {
    in_block(leaves, begin, end, rows_of(partition), [&](size_t leaf, std::span<const Row> rows) {
      const double value = tree.value[static_cast<size_t>(leaves[leaf].node)];
      for (Row row : rows) raw[row] += value;
    });
  });
}

}  // namespace frugal
