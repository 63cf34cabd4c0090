#include "loss/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "engine/cpu/kernels.hpp"

namespace frugal {
namespace {

constexpr size_t kBlock = 4096;

}  // namespace

double largest_of(std::span<const double> values, Context& context) {
  std::vector<double> largest((values.size() + kBlock - 1) / kBlock);
  context.over_blocks(values.size(), kBlock, 1.0, [&](size_t begin, size_t end, size_t block) {
    largest[block] = kernels().largest_magnitude(end - begin, values.data() + begin);
  });
  double most = 0.0;
  for (double v : largest) {
    if (!std::isfinite(v)) return v;
    most = std::max(most, v);
  }
  return most;
}

void GridGradients::set(std::span<const double> g, double largest, const Weights& weights, Context& context) {
  if (largest < 0) largest = largest_of(g, context);
  if (!std::isfinite(largest))
    throw std::domain_error("The loss gave a gradient that is not finite. Rescale y, or lower the learning rate.");
  const Grid grid(largest, kGradientBits);
  shift = grid.shift();
  q.resize(g.size());
  std::vector<std::int64_t> sums((g.size() + kBlock - 1) / kBlock);
  std::vector<std::int32_t> low(sums.size()), high(sums.size());
  context.over_blocks(g.size(), kBlock, 3.0, [&](size_t begin, size_t end, size_t block) {
    if (grid.plain()) {
      kernels().to_grid(end - begin, g.data() + begin, grid.scale(), q.data() + begin);
    } else {
      for (size_t i = begin; i < end; ++i) q[i] = static_cast<std::int32_t>(grid.at(g[i]));
    }
    std::int64_t sum = 0;
    if (weights.uniform()) {
      for (size_t i = begin; i < end; ++i) sum += q[i];
    } else {
      for (size_t i = begin; i < end; ++i) sum += weights.units[i] * q[i];
    }
    sums[block] = sum;
    std::int32_t least = q[begin], most = least;
    for (size_t i = begin; i < end; ++i) {
      least = std::min(least, q[i]);
      most = std::max(most, q[i]);
    }
    low[block] = least;
    high[block] = most;
  });
  total = std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
  lowest = *std::min_element(low.begin(), low.end());
  highest = *std::max_element(high.begin(), high.end());
}

double GridGradients::impurity(const Weights& weights, Context& context) const {
  std::vector<Wide> sums((q.size() + kBlock - 1) / kBlock);
  context.over_blocks(q.size(), kBlock, 3.0, [&](size_t begin, size_t end, size_t block) {
    Wide sum = 0;
    for (size_t i = begin; i < end; ++i) {
      std::int64_t v = q[i];
      sum += static_cast<Wide>(weights.unit(i)) * (v * v);
    }
    sums[block] = sum;
  });
  Wide squares = 0;
  for (Wide s : sums) squares += s;
  // W * sum w q^2 - (sum w q)^2 fits: at most 2^36 * 2^88 = 2^124.
  Wide variance = squares * weights.total - static_cast<Wide>(total) * total;
  double impurity =
      scaled(static_cast<double>(variance), -2 * shift - weights.shift) / static_cast<double>(weights.total) * 0.5;
  if (!std::isfinite(impurity))
    throw std::domain_error("The gradients are too large to be squared. Rescale y or the weights.");
  return impurity;
}

double squared_move(const GridGradients& from, const GridGradients& to, const Weights& weights, Context& context) {
  const size_t n = to.q.size();
  // Both on the finer grid, so that the difference of whole numbers is a whole number of a double's size.
  const int finer = std::max(from.shift, to.shift);
  const double old_scale = scaled(1.0, finer - from.shift), new_scale = scaled(1.0, finer - to.shift);
  auto sum_of = [&](auto&& term) {
    std::vector<double> sums((n + kBlock - 1) / kBlock);
    context.over_blocks(n, kBlock, 1.0, [&](size_t begin, size_t end, size_t block) {
      for (size_t i = begin; i < end; ++i)
        sums[block] += static_cast<double>(weights.unit(i)) * term(to.q[i] * new_scale - from.q[i] * old_scale);
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  };
  const double mean = sum_of([](double change) { return change; }) / static_cast<double>(weights.total);
  const double squares = sum_of([&](double change) { return (change - mean) * (change - mean); });
  return scaled(squares, -2 * finer - weights.shift);
}

}  // namespace frugal
