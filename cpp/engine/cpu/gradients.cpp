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

// The sum of term(row) over all rows of all parts.
template <class Term>
Int128 exact_sum(size_t rows, double work, Context& context, const char* what, const Term& term) {
  std::vector<Int128> sums(blocks_of(rows));
  context.over_blocks(rows, kBlock, work, [&](size_t begin, size_t end, size_t block) {
    Int128 sum = 0;
    for (size_t i = begin; i < end; ++i) sum += term(i);
    sums[block] = sum;
  });
  Int128 total = 0;
  for (Int128 s : sums) total += s;
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
  struct Found {
    std::int64_t sum;
    std::int32_t lowest, highest;
  };
  std::vector<Found> found(blocks_of(g.size()));
  context.over_blocks(g.size(), kBlock, 3.0, [&](size_t begin, size_t end, size_t block) {
    if (grid.plain()) {
      kernels().to_grid(end - begin, g.data() + begin, grid.scale(), q.data() + begin);
    } else {
      for (size_t i = begin; i < end; ++i) q[i] = narrow<std::int32_t>(grid.at(g[i]));
    }
    std::int64_t sum = 0;
    if (weights.uniform()) {
      for (size_t i = begin; i < end; ++i) sum += q[i];
    } else {
      for (size_t i = begin; i < end; ++i) sum += weights.units[i] * q[i];
    }
    std::int32_t least = q[begin], most = least;
    for (size_t i = begin; i < end; ++i) {
      least = std::min(least, q[i]);
      most = std::max(most, q[i]);
    }
    found[block] = {sum, least, most};
  });
  std::int64_t total = 0;
  std::array<double, 2> range{-kInfinity, -kInfinity};  // -lowest and highest: parts exchange the largest of numbers
  for (const Found& f : found) {
    total += f.sum;
    range[0] = std::max(range[0], -real(f.lowest));
    range[1] = std::max(range[1], real(f.highest));
  }
  context.together().sum_and_largest({&total, 1}, range, "gradients");
  facts.total = total;
  facts.lowest = truncated<std::int32_t>(-range[0]);
  facts.highest = truncated<std::int32_t>(range[1]);
}

std::int64_t GridGradients::over(std::span<const Row> rows, const Weights& weights, Context& context) const {
  std::vector<std::int64_t> sums(blocks_of(rows.size()));
  context.over_blocks(rows.size(), kBlock, 1.0, [&](size_t begin, size_t end, size_t block) {
    std::int64_t sum = 0;
    if (weights.uniform()) {
      for (size_t i = begin; i < end; ++i) sum += q[rows[i]];
    } else {
      for (size_t i = begin; i < end; ++i) sum += weights.units[rows[i]] * q[rows[i]];
    }
    sums[block] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
}

double GridGradients::impurity(const Weights& weights, Context& context) const {
  const Int128 squares = exact_sum(q.size(), 3.0, context, "squared gradients", [&](size_t i) {
    const std::int64_t v = q[i];
    return Int128{weights.unit(i)} * (v * v);
  });
  return impurity_of(squares, facts, weights);
}

double impurity_of(Int128 squares, const GradientFacts& facts, const Weights& weights) {
  // W * sum w q^2 - (sum w q)^2 fits: at most 2^36 * 2^88 = 2^124.
  const Int128 variance = squares * weights.total - Int128{facts.total} * facts.total;
  const double impurity = scaled(real(variance), -2 * facts.shift - weights.shift) / real(weights.total) * 0.5;
  if (!std::isfinite(impurity))
    throw std::domain_error("The gradients are too large to be squared. Rescale y or the weights.");
  return impurity;
}

namespace {

// If two grids differ by more bits than this, the finer one is made coarser: what it loses is negligible on the other.
constexpr int kMostBits = 16;

// Converts integers to another grid.
class OnGrid {
 public:
  OnGrid(int from, int to) : up_(std::max(to - from, 0)), down_(std::min(std::max(from - to, 0), kMostShift)) {}
  std::int64_t operator()(std::int32_t q) const {
    const std::int64_t v = std::int64_t{q} << up_;
    return down_ == 0 ? v : (v + (std::int64_t{1} << (down_ - 1))) >> down_;
  }

 private:
  int up_, down_;
};

}  // namespace

int common_shift(int from, int to) {
  return std::min(std::max(from, to), std::min(from, to) + kMostBits);
}

double spread_of(Int128 sum, std::int64_t mean, Int128 squares, int shift, const Weights& weights) {
  const double rest = real(sum - Int128{mean} * weights.total);
  const double spread = real(squares) - rest * rest / real(weights.total);
  return scaled(std::max(spread, 0.0), -2 * shift - weights.shift);
}

double squared_move(std::span<const std::int32_t> from, int from_shift, const GridGradients& to, const Weights& weights,
                    Context& context) {
  const int common = common_shift(from_shift, to.facts.shift);
  const OnGrid old_grid(from_shift, common), new_grid(to.facts.shift, common);
  auto change = [&](size_t i) { return new_grid(to.q[i]) - old_grid(from[i]); };
  const Int128 sum = exact_sum(to.q.size(), 3.0, context, "changes of gradients",
                               [&](size_t i) { return Int128{weights.unit(i)} * change(i); });
  // Deviations from a whole number close to the mean: up to 2^44, so that with weights of 2^36 in all squares add up to
  // at most 2^124.
  const auto mean = low_bits<std::int64_t>(sum / weights.total);
  const Int128 squares = exact_sum(to.q.size(), 3.0, context, "squared changes of gradients", [&](size_t i) {
    const Int128 rest = change(i) - mean;
    return Int128{weights.unit(i)} * (rest * rest);
  });
  return spread_of(sum, mean, squares, common, weights);
}

}  // namespace frugal
