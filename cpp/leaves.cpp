#include "leaves.hpp"

#include <algorithm>
#include <cmath>

#include "kernels.hpp"

namespace frugal {
namespace {

constexpr Row kChunk = 16384;

struct Chunk {
  size_t leaf;
  Row begin, end;  // in the leaf
};

std::vector<Chunk> cut(std::span<const Leaf> leaves) {
  std::vector<Chunk> chunks;
  for (size_t i = 0; i < leaves.size(); ++i)
    for (Row at = 0; at < leaves[i].rows.rows(); at += std::min(kChunk, leaves[i].rows.rows() - at))
      chunks.push_back({i, at, at + std::min(kChunk, leaves[i].rows.rows() - at)});
  return chunks;
}

// Exact sums of w * v over every leaf, on a grid far finer than the gradients of the histograms.
std::vector<double> leaf_sums(std::span<const Leaf> leaves, const std::vector<Chunk>& chunks,
                              const RowPartition& partition, const Weights& weights, std::span<const double> v,
                              Context& context) {
  const int shift = grid_exponent(kernels().largest_magnitude(v.size(), v.data()), kLeafBits);
  const bool plain = std::abs(shift) < 1000;
  const double scale = plain ? scaled(1.0, shift) : 0.0;
  std::vector<Wide> part(chunks.size()), sum(leaves.size());
  context.parallel_for(chunks.size(), 4.0 * static_cast<double>(v.size()), [&](size_t c, int) {
    const Row* rows = partition.rows(leaves[chunks[c].leaf].rows);
    Wide total = 0;
    for (Row i = chunks[c].begin; i < chunks[c].end; ++i) {
      const double value = v[rows[i]];
      const std::int64_t fixed = plain ? std::llrint(value * scale) : to_grid(value, shift);
      total += static_cast<Wide>(weights.unit(rows[i])) * fixed;
    }
    part[c] = total;
  });
  for (size_t c = 0; c < chunks.size(); ++c) sum[chunks[c].leaf] += part[c];
  std::vector<double> out;
  for (Wide s : sum) out.push_back(scaled(static_cast<double>(s), -shift));
  return out;
}

std::vector<double> newton_steps(std::span<const Leaf> leaves, const RowPartition& partition, const Target& target,
                                 std::span<const double> g, std::span<const double> h, const Loss& loss,
                                 const Params& params, Context& context) {
  const Weights& weights = *target.weights;
  const auto chunks = cut(leaves);
  auto top = leaf_sums(leaves, chunks, partition, weights, g, context);
  std::vector<double> bottom;
  if (params.leaf_values == LeafValues::newton) {
    bottom = leaf_sums(leaves, chunks, partition, weights, h, context);
  } else {
    for (const auto& leaf : leaves) bottom.push_back(static_cast<double>(leaf.rows.weight));
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    double below = bottom[i] + scaled(params.l2_regularization, weights.shift);
    top[i] = std::clamp(below > 0 ? top[i] / below : 0.0, -loss.step_limit(), loss.step_limit());
  }
  return top;
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
  const bool by_quantile = loss.leaf_quantile() >= 0 && params.leaf_values == LeafValues::newton;
  const auto values = by_quantile ? residual_quantiles(leaves, partition, target, raw, loss.leaf_quantile(), context)
                                  : newton_steps(leaves, partition, target, g, h, loss, params, context);
  for (size_t i = 0; i < leaves.size(); ++i)
    tree.value[static_cast<size_t>(leaves[i].node)] = params.learning_rate * values[i];
}

void add_leaf_values(const Tree& tree, std::span<const Leaf> leaves, const RowPartition& partition, double* raw,
                     Context& context) {
  const auto chunks = cut(leaves);
  double rows_in_all = 0;
  for (const auto& leaf : leaves) rows_in_all += leaf.rows.rows();
  context.parallel_for(chunks.size(), rows_in_all, [&](size_t c, int) {
    const Leaf& leaf = leaves[chunks[c].leaf];
    const double value = tree.value[static_cast<size_t>(leaf.node)];
    const Row* rows = partition.rows(leaf.rows);
    for (Row i = chunks[c].begin; i < chunks[c].end; ++i) raw[rows[i]] += value;
  });
}

}  // namespace frugal
