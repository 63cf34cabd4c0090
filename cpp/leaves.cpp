#include "leaves.hpp"

#include <algorithm>
#include <cmath>

#include "chunks.hpp"
#include "kernels.hpp"
#include "limits.hpp"

namespace frugal {
namespace {

std::vector<Chunk> chunks_of(std::span<const Leaf> leaves) {
  return cut(leaves, kLeafRows, [](const Leaf& leaf) { return leaf.rows; });
}

// Exact sums of w * v over every leaf, on a grid far finer than the gradients of the histograms.
std::vector<double> leaf_sums(std::span<const Leaf> leaves, const RowPartition& partition, const Weights& weights,
                              std::span<const double> v, Context& context) {
  const Grid grid(kernels().largest_magnitude(v.size(), v.data()), kLeafBits);
  const auto chunks = chunks_of(leaves);
  std::vector<Wide> part(chunks.size()), sum(leaves.size());
  context.parallel_for(chunks.size(), 4.0 * static_cast<double>(v.size()), [&](size_t c, int) {
    Wide total = 0;
    for (Row i = chunks[c].begin; i < chunks[c].end; ++i) {
      const Row row = partition.rows()[i];
      total += static_cast<Wide>(weights.unit(row)) * grid.at(v[row]);
    }
    part[c] = total;
  });
  for (size_t c = 0; c < chunks.size(); ++c) sum[chunks[c].owner] += part[c];
  std::vector<double> out;
  for (Wide s : sum) out.push_back(grid.back(s));
  return out;
}

// Newton steps, or means of the gradient.
std::vector<double> gradient_steps(std::span<const Leaf> leaves, const RowPartition& partition, const Target& target,
                                   std::span<const double> g, std::span<const double> h, const Loss& loss,
                                   const Params& params, Context& context) {
  const Weights& weights = *target.weights;
  auto steps = leaf_sums(leaves, partition, weights, g, context);
  std::vector<double> below;
  if (params.leaf_values == LeafValues::newton) {
    below = leaf_sums(leaves, partition, weights, h, context);
    for (double& b : below) b += scaled(params.l2_regularization, weights.shift);
  } else {
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
                     const double* raw, std::span<const double> g, std::span<const double> h, const Loss& loss,
                     const Params& params, Context& context) {
  const auto values = loss.leaf_quantile() >= 0
                          ? residual_quantiles(leaves, partition, target, raw, loss.leaf_quantile(), context)
                          : gradient_steps(leaves, partition, target, g, h, loss, params, context);
  for (size_t i = 0; i < leaves.size(); ++i)
    tree.value[static_cast<size_t>(leaves[i].node)] = params.learning_rate * values[i];
}

void add_leaf_values(const Tree& tree, std::span<const Leaf> leaves, const RowPartition& partition, double* raw,
                     Context& context) {
  const auto chunks = chunks_of(leaves);
  double rows_in_all = 0;
  for (const auto& leaf : leaves) rows_in_all += leaf.rows.rows();
  context.parallel_for(chunks.size(), rows_in_all, [&](size_t c, int) {
    const double value = tree.value[static_cast<size_t>(leaves[chunks[c].owner].node)];
    for (Row i = chunks[c].begin; i < chunks[c].end; ++i) raw[partition.rows()[i]] += value;
  });
}

}  // namespace frugal
