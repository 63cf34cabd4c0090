#include "engine/cpu/direction.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "support/mixing.hpp"

namespace frugal {
namespace {

constexpr size_t kBlock = 4096;

std::int64_t signed_sum(std::span<const std::int32_t> q, std::span<const std::int32_t> flip,
                        const std::int64_t* units) {
  std::int64_t sum = 0;
  if (units == nullptr) {
    for (size_t i = 0; i < q.size(); ++i) sum += (q[i] ^ flip[i]) - flip[i];
  } else {
    for (size_t i = 0; i < q.size(); ++i) sum += units[i] * ((q[i] ^ flip[i]) - flip[i]);
  }
  return sum;
}

// For the largest gradient of all outputs.
Grid common_grid(AllGradients gradients) {
  double largest = 0.0;
  for (const GridGradients& g : gradients) largest = std::max(largest, largest_of_grid(g.facts));
  return Grid(largest, kSumBits);
}

}  // namespace

double largest_of_grid(const GradientFacts& facts) {
  return facts.constant() && facts.lowest == 0 ? 0.0 : scaled(0.5, kGradientBits - facts.shift);
}

// Divided by the length of the direction: what is gained along it is at most what all outputs gain.
double length_of(std::span<const std::int8_t> signs) {
  return std::sqrt(real(std::max<size_t>(1, signs.size() - index(std::count(signs.begin(), signs.end(), 0)))));
}

std::vector<std::int64_t> probe(AllGradients gradients, std::span<const std::uint64_t> row_keys, std::uint64_t number,
                                const Weights& weights, Context& context) {
  const size_t rows = row_keys.size(), outputs = gradients.size(), blocks = (rows + kBlock - 1) / kBlock;
  std::vector<std::int64_t> parts(blocks * outputs), sums(outputs);
  context.over_blocks(rows, kBlock, 2.0 * real(outputs), [&](size_t begin, size_t end, size_t block) {
    std::array<std::int32_t, kBlock> flip;  // -1: the row counts negatively
    for (size_t i = begin; i < end; ++i) flip[i - begin] = -narrow<std::int32_t>(mixed(row_keys[i] + number) & 1);
    const std::int64_t* units = weights.uniform() ? nullptr : weights.units.data() + begin;
    for (size_t k = 0; k < outputs; ++k)
      parts[block * outputs + k] =
          signed_sum(std::span(gradients[k].q).subspan(begin, end - begin), std::span(flip).first(end - begin), units);
  });
  for (size_t i = 0; i < parts.size(); ++i) sums[i % outputs] += parts[i];
  context.together().sum(sums, "a direction of gradients");
  return sums;
}

void combine(Predictions& predictions, std::span<const std::int8_t> signs, const Weights& weights, Context& context,
             GridGradients& out) {
  const Grid grid = common_grid(predictions.gradients());
  std::vector<std::int64_t> sums(predictions.gradients()[0].q.size());
  for (size_t k = 0; k < signs.size(); ++k) {
    if (signs[k] == 0) continue;
    const double* g = predictions.derived(k).g.data();
    const double scale = predictions.scale(k).search;
    context.over_blocks(sums.size(), kBlock, 2.0, [&](size_t begin, size_t end, size_t) {
      const Grid own = grid;  // a copy that the compiler can keep in registers
      const std::int64_t sign = signs[k];
      for (size_t i = begin; i < end; ++i) sums[i] += sign * own.at(scale * g[i]);
    });
  }
  const double length = length_of(signs);
  std::vector<double> total(sums.size());
  context.over_blocks(sums.size(), kBlock, 1.0, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) total[i] = grid.back(sums[i]) / length;
  });
  out.set(total, -1.0, weights, context);
}

}  // namespace frugal
