#include "engine/cpu/lines.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/limits.hpp"

namespace frugal {
namespace {

constexpr size_t kBlock = 4096;         // rows whose bins are copied at once
constexpr size_t kLongBlock = 1 << 16;  // rows whose products with gradients (2^41) a 64-bit number can add up

}  // namespace

void ScoredColumns::prepare() {
  weights_ = &drawn_.weights();
  if (!tables_.empty()) return;
  const Thresholds& thresholds = X_.thresholds();
  if (thresholds.scores.empty()) throw std::invalid_argument("The bins have no scores, which lines need.");
  tables_.reserve(thresholds.scores.size() + X_.columns());
  for (size_t c = 0; c < X_.columns(); ++c) {
    const auto scores = thresholds.scores_of(c);
    tables_.insert(tables_.end(), scores.begin(), scores.end());
    tables_.push_back(0);
  }
}

std::vector<ScoreSums> ScoredColumns::sums(std::span<const size_t> columns, Context& context) {
  prepare();
  std::vector<std::int64_t> first(columns.size());
  std::vector<Int128> squares(columns.size());
  context.parallel_for(columns.size(), 2.0 * real(columns.size() * X_.rows()), [&](size_t i, size_t) {
    const std::int16_t* scores = table(columns[i]);
    std::uint8_t bins[kBlock];
    for (size_t begin = 0; begin < X_.rows(); begin += kBlock) {
      const size_t end = std::min(X_.rows(), begin + kBlock);
      X_.copy(columns[i], begin, end, bins, 1);
      for (size_t r = begin; r < end; ++r) {
        const std::int64_t score = scores[bins[r - begin]], weighted = weights_->unit(r) * score;
        first[i] += weighted;
        squares[i] += Int128{weighted} * score;
      }
    }
  });
  context.together().sum(first, "scores");
  sum_all(context.together(), squares, "squared scores");
  std::vector<ScoreSums> out;
  for (size_t i = 0; i < columns.size(); ++i) out.push_back({first[i], squares[i]});
  return out;
}

std::vector<ScoredColumns::Group> ScoredColumns::groups_of(std::span<const size_t> columns) const {
  std::vector<Group> groups;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (X_.is_sparse(columns[i])) continue;
    const size_t place = X_.place(columns[i]);
    if (groups.empty() || groups.back().number != place / kLanes || groups.back().size == kLanes)
      groups.push_back({place / kLanes, 0, {}, {}});
    Group& group = groups.back();
    group.lanes[group.size] = place % kLanes;
    group.places[group.size++] = i;
  }
  return groups;
}

void ScoredColumns::add_rows(const Group& group, size_t begin, size_t end, const std::int32_t* q, Int128* out) const {
  const std::uint8_t* bins = X_.bytes().data() + group.number * kLanes * X_.rows();
  for (size_t l = 0; l < group.size; ++l) {
    const std::int16_t* scores = table(X_.dense_column(group.number * kLanes + group.lanes[l]));
    const std::uint8_t* own = bins + group.lanes[l];
    if (weights_->uniform()) {
      std::int64_t sum = 0;
      for (size_t r = begin; r < end; ++r) sum += std::int64_t{q[r]} * scores[own[r * kLanes]];
      out[l] = sum;
    } else {
      Int128 sum = 0;
      for (size_t r = begin; r < end; ++r) sum += Int128{weights_->units[r] * q[r]} * scores[own[r * kLanes]];
      out[l] = sum;
    }
  }
}

// All rows that are not listed have the usual bin.
Int128 ScoredColumns::of_listed(size_t column, const GridGradients& gradients) const {
  const auto listed = X_.listed(X_.place(column));
  const std::int16_t* scores = table(column);
  const std::int64_t usual = scores[listed.usual_bin];
  Int128 sum = 0;
  for (size_t i = 0; i < listed.rows.size(); ++i) {
    const Row row = listed.rows[i];
    sum += Int128{weights_->unit(row) * gradients.q[row]} * (scores[listed.bins[i]] - usual);
  }
  return sum;
}

std::vector<Int128> ScoredColumns::gradients(std::span<const size_t> columns, const GridGradients& gradients,
                                             Context& context) {
  prepare();
  const std::vector<Group> groups = groups_of(columns);
  const size_t blocks = std::max<size_t>(1, (X_.rows() + kLongBlock - 1) / kLongBlock);
  std::vector<Int128> parts(groups.size() * blocks * kLanes);
  context.parallel_for(groups.size() * blocks, real(columns.size() * X_.rows()), [&](size_t task, size_t) {
    const size_t begin = task % blocks * kLongBlock, end = std::min(X_.rows(), begin + kLongBlock);
    add_rows(groups[task / blocks], begin, end, gradients.q.data(), parts.data() + task * kLanes);
  });
  std::vector<Int128> sums(columns.size());
  for (size_t task = 0; task < groups.size() * blocks; ++task) {
    const Group& group = groups[task / blocks];
    for (size_t l = 0; l < group.size; ++l) sums[group.places[l]] += parts[task * kLanes + l];
  }
  context.parallel_for(columns.size(), 0.1 * real(columns.size() * X_.rows()), [&](size_t i, size_t) {
    if (X_.is_sparse(columns[i])) sums[i] = of_listed(columns[i], gradients);
  });
  sum_all(context.together(), sums, "gradients times scores");
  const std::int64_t total = drawn_.sums(gradients, context).gradient;
  for (size_t i = 0; i < columns.size(); ++i)
    if (X_.is_sparse(columns[i]))
      sums[i] += Int128{total} * table(columns[i])[X_.listed(X_.place(columns[i])).usual_bin];
  return sums;
}

LineSums ScoredColumns::line(size_t column, const Derivatives& d, Context& context) {
  prepare();
  const size_t n = X_.rows(), blocks = (n + kBlock - 1) / kBlock;
  auto grid_of = [&](const std::vector<double>& values, double largest) {
    return Grid(largest < 0 ? largest_magnitude(values, context) : largest, kLeafBits);
  };
  const Grid of_g = grid_of(d.g, d.largest_g), of_h = grid_of(d.h, d.largest_h);
  const std::int16_t* scores = table(column);
  constexpr size_t kSums = 5;
  std::vector<Int128> parts(blocks * kSums);
  context.over_blocks(n, kBlock, 20.0, [&](size_t begin, size_t end, size_t block) {
    std::uint8_t bins[kBlock];
    X_.copy(column, begin, end, bins, 1);
    Int128* sums = parts.data() + block * kSums;
    for (size_t r = begin; r < end; ++r) {
      const Int128 unit = weights_->unit(r), g = unit * of_g.at(d.g[r]), h = unit * of_h.at(d.h[r]);
      const std::int64_t score = scores[bins[r - begin]];
      sums[0] += g;
      sums[1] += g * score;
      sums[2] += h;
      sums[3] += h * score;
      sums[4] += h * (score * score);  // at most 2^60 * 2^36 * 2^30
    }
  });
  std::vector<Int128> sums(kSums);
  for (size_t i = 0; i < parts.size(); ++i) sums[i % kSums] += parts[i];
  sum_all(context.together(), sums, "sums along a line");
  auto steps = [](double v, int times) { return scaled(v, -times * kScoreBits); };
  return {of_g.back(sums[0]), steps(of_g.back(sums[1]), 1), of_h.back(sums[2]), steps(of_h.back(sums[3]), 1),
          steps(of_h.back(sums[4]), 2)};
}

// The sum of w |z| rho(ratio - slope) with ratio = residual / z is least at a weighted quantile of the ratios. Its
// level is that of the loss for rows with z > 0, and the opposite one for the others.
double ScoredColumns::quantile(size_t column, std::span<const double> y, const double* raw, double intercept,
                               double level, Context& context) {
  prepare();
  const std::int16_t* scores = table(column);
  std::vector<std::uint8_t> bins(X_.rows());
  X_.copy(column, 0, X_.rows(), bins.data(), 1);
  Weighted ratios;
  std::vector<std::int64_t> sides(2);  // weights of rows with a positive and with a negative score
  for (size_t r = 0; r < bins.size(); ++r) {
    const std::int64_t score = scores[bins[r]];
    if (score == 0) continue;
    ratios.values.push_back((y[r] - raw[r] - intercept) / score_value(narrow<std::int16_t>(score)));
    ratios.units.push_back(weights_->unit(r) * std::abs(score));
    sides[score < 0] += ratios.units.back();
  }
  context.together().sum(sides, "weights along a line");
  const double all = real(sides[0] + sides[1]);
  if (!(all > 0)) return 0.0;
  return weighted_quantiles({&ratios, 1}, (real(sides[0]) * level + real(sides[1]) * (1.0 - level)) / all, context)[0];
}

namespace {

// Products of three numbers that are added up in doubles and stay whole: 2^23 * 2^11 * 2^11 * 128 rows. Curvatures have
// 23 bits; times the weight of a row they have up to 59, which are taken 23 at a time.
constexpr int kCurvatureBits = 23, kCoarseBits = 4;
constexpr std::int64_t kDigit = 1 << kCurvatureBits;
constexpr size_t kProductRows = 128, kSideBySide = 8;

double exact_dot(const double* a, const double* b) {
  double sums[kSideBySide] = {};
  for (size_t r = 0; r < kProductRows; r += kSideBySide)
    for (size_t i = 0; i < kSideBySide; ++i) sums[i] += a[r + i] * b[r + i];
  return std::accumulate(sums, sums + kSideBySide, 0.0);
}

}  // namespace

std::vector<double> ScoredColumns::curvatures(std::span<const size_t> columns, const Derivatives& d, Context& context) {
  prepare();
  const size_t n = X_.rows(), size = columns.size() + 1, cells = size * (size + 1) / 2;
  const Grid grid(d.largest_h < 0 ? largest_magnitude(d.h, context) : d.largest_h, kCurvatureBits);
  std::vector<std::vector<Int128>> sums(context.threads(), std::vector<Int128>(cells));
  const size_t blocks = (n + kProductRows - 1) / kProductRows;
  context.parallel_for(blocks, 0.3 * real(n * cells), [&](size_t block, size_t thread) {
    const size_t begin = block * kProductRows, end = std::min(n, begin + kProductRows);
    std::vector<double> z(size * kProductRows), h(kProductRows), product(kProductRows);
    std::fill_n(z.begin(), end - begin, real(1 << (kScoreBits - kCoarseBits)));
    std::int64_t weighted[kProductRows] = {}, most = 0;
    for (size_t r = begin; r < end; ++r) {
      weighted[r - begin] = weights_->unit(r) * grid.at(d.h[r]);
      most = std::max(most, std::abs(weighted[r - begin]));
    }
    std::uint8_t bins[kProductRows];
    for (size_t i = 1; i < size; ++i) {
      X_.copy(columns[i - 1], begin, end, bins, 1);
      const std::int16_t* scores = table(columns[i - 1]);
      for (size_t r = 0; r < end - begin; ++r)
        z[i * kProductRows + r] = real((scores[bins[r]] + (1 << (kCoarseBits - 1))) >> kCoarseBits);
    }
    for (Int128 worth = 1; most > 0; most /= kDigit, worth *= kDigit) {
      for (size_t r = 0; r < kProductRows; ++r) {
        h[r] = real(weighted[r] % kDigit);
        weighted[r] /= kDigit;
      }
      for (size_t i = 0, at = 0; i < size; ++i) {
        for (size_t r = 0; r < kProductRows; ++r) product[r] = h[r] * z[i * kProductRows + r];
        for (size_t j = 0; j <= i; ++j, ++at)
          sums[thread][at] += worth * truncated<std::int64_t>(exact_dot(product.data(), z.data() + j * kProductRows));
      }
    }
  });
  std::vector<Int128> total(cells);
  for (const auto& own : sums)
    for (size_t i = 0; i < cells; ++i) total[i] += own[i];
  sum_all(context.together(), total, "curvatures");
  std::vector<double> out;
  for (Int128 sum : total) out.push_back(scaled(grid.back(sum), -2 * (kScoreBits - kCoarseBits)));
  return out;
}

void ScoredColumns::add(size_t column, double value, double slope, const BinnedMatrix& rows, double* raw,
                        Context& context) {
  prepare();
  const std::int16_t* scores = table(column);
  context.over_blocks(rows.rows(), kBlock, 2.0, [&](size_t begin, size_t end, size_t) {
    std::uint8_t bins[kBlock];
    rows.copy(column, begin, end, bins, 1);
    for (size_t r = begin; r < end; ++r) raw[r] += value + slope * score_value(scores[bins[r - begin]]);
  });
}

}  // namespace frugal
