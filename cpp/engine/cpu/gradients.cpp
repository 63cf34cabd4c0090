#include "engine/cpu/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "support/kernels.hpp"

namespace frugal {
namespace {

constexpr size_t kBlock = 4096;

size_t blocks_of(size_t rows) {
  return (rows + kBlock - 1) / kBlock;
}

// Sum of term(row) over all rows of all parts.
template <class Term>
Wide exact_sum(size_t rows, double work, Context& context, const char* what, const Term& term) {
  std::vector<Wide> sums(blocks_of(rows));
  context.over_blocks(rows, kBlock, work, [&](size_t begin, size_t end, size_t block) {
    Wide sum = 0;
    for (size_t i = begin; i < end; ++i) sum += term(i);
    sums[block] = sum;
  });
  Wide total = 0;
  for (Wide s : sums) total += s;
  return sum_of(context.together(), total, what);
}

}  // namespace

double largest_magnitude(std::span<const double> values, Context& context) {
  std::vector<double> largest(blocks_of(values.size()));
  context.over_blocks(values.size(), kBlock, 1.0, [&](size_t begin, size_t end, size_t block) {
    largest[block] = kernels().largest_magnitude(end - begin, values.data() + begin);
  });
  const double own = kernels().largest_magnitude(largest.size(), largest.data());
  return largest_of(context.together(), own, "the largest magnitude");
}

void GridGradients::set(std::span<const double> g, double largest, const Weights& weights, Context& context) {
  if (largest < 0) largest = largest_magnitude(g, context);
  if (!std::isfinite(largest))
    throw std::domain_error("The loss gave a gradient that is not finite. Rescale y, or lower the learning rate.");
  const Grid grid(largest, kGradientBits);
  facts.shift = grid.shift();
  q.resize(g.size());
  std::vector<std::int64_t> sums(blocks_of(g.size()));
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
  const std::int64_t own = std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
  facts.total = sum_of(context.together(), own, "gradients");
  std::array<double, 2> range{-kInfinity, -kInfinity};  // of -lowest and highest
  for (std::int32_t l : low) range[0] = std::max(range[0], -static_cast<double>(l));
  for (std::int32_t h : high) range[1] = std::max(range[1], static_cast<double>(h));
  context.together().largest(range, "the range of gradients");
  facts.lowest = static_cast<std::int32_t>(-range[0]);
  facts.highest = static_cast<std::int32_t>(range[1]);
}

double GridGradients::impurity(const Weights& weights, Context& context) const {
  const Wide squares = exact_sum(q.size(), 3.0, context, "squared gradients", [&](size_t i) {
    const std::int64_t v = q[i];
    return static_cast<Wide>(weights.unit(i)) * (v * v);
  });
  // W * sum w q^2 - (sum w q)^2 fits: at most 2^36 * 2^88 = 2^124.
  const Wide variance = squares * weights.total - Wide{facts.total} * facts.total;
  const double impurity = scaled(static_cast<double>(variance), -2 * facts.shift - weights.shift) /
                          static_cast<double>(weights.total) * 0.5;
  if (!std::isfinite(impurity))
    throw std::domain_error("The gradients are too large to be squared. Rescale y or the weights.");
  return impurity;
}

namespace {

// Grids that differ by more bits than this are brought closer: the finer one loses what is nothing beside the other.
constexpr int kMostBits = 16;

// Integers on another grid.
class OnGrid {
 public:
  OnGrid(int from, int to) : up_(std::max(to - from, 0)), down_(std::min(std::max(from - to, 0), 40)) {}
  std::int64_t operator()(std::int32_t q) const {
    const std::int64_t v = std::int64_t{q} << up_;
    return down_ == 0 ? v : (v + (std::int64_t{1} << (down_ - 1))) >> down_;
  }

 private:
  int up_, down_;
};

}  // namespace

double squared_move(std::span<const std::int32_t> from, int from_shift, const GridGradients& to, const Weights& weights,
                    Context& context) {
  const int common = std::min(std::max(from_shift, to.facts.shift), std::min(from_shift, to.facts.shift) + kMostBits);
  const OnGrid old_grid(from_shift, common), new_grid(to.facts.shift, common);
  auto change = [&](size_t i) { return new_grid(to.q[i]) - old_grid(from[i]); };
  const Wide sum = exact_sum(to.q.size(), 3.0, context, "changes of gradients",
                             [&](size_t i) { return Wide{weights.unit(i)} * change(i); });
  // From a whole number close to the mean: changes up to 2^44 and weights up to 2^36 in all give 2^124.
  const auto mean = static_cast<std::int64_t>(sum / weights.total);
  const Wide squares = exact_sum(to.q.size(), 3.0, context, "squared changes of gradients", [&](size_t i) {
    const Wide rest = change(i) - mean;
    return Wide{weights.unit(i)} * (rest * rest);
  });
  const double rest = static_cast<double>(sum - Wide{mean} * weights.total);
  const double spread = static_cast<double>(squares) - rest * rest / static_cast<double>(weights.total);
  return scaled(std::max(spread, 0.0), -2 * common - weights.shift);
}

}  // namespace frugal
