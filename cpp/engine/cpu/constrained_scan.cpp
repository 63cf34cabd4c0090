#include "engine/cpu/constrained_scan.hpp"

#include <algorithm>

#include "support/packed_cell.hpp"

namespace frugal {
namespace {

struct Side {
  std::int64_t gradient = 0, weight = 0;

  double mean() const { return real(gradient) / real(weight); }
  void add(const Side& more) {
    gradient += more.gradient;
    weight += more.weight;
  }
};

Side cell_of(const ScanTask& t, bool packed, size_t b) {
  if (packed) return {packed_gradient(t.cells[b]), packed_count(t.cells[b])};
  return {t.cells[2 * b], t.cells[2 * b + 1]};
}

// 1/2 (GL^2/WL + GR^2/WR - G^2/W), from exact products that are rounded once.
double free_gain(const ScanTask& t, const Side& left, const Side& right) {
  const double numerator = real(Int128{left.gradient} * right.weight) - real(Int128{right.gradient} * left.weight);
  return (numerator * numerator) / (real(left.weight) * real(right.weight)) * t.factor;
}

// By how much 1/2 sum w (g - value)^2 falls if both sides have values of their own; 0: the split is not allowed.
double constrained_gain(const ScanTask& t, const Side& left, const Side& right, int trend, const ValueRange& range) {
  const double left_mean = left.mean(), right_mean = right.mean();
  const double l = range.value(left_mean), r = range.value(right_mean);
  if (l == r || trend * l > trend * r) return 0.0;
  const double most = free_gain(t, left, right);
  if (l == left_mean && r == right_mean) return most;
  const double here = range.value(real(t.gradient) / real(t.weight));
  double fall = real(left.weight) * (l - here) * ((left_mean - l) + (left_mean - here));
  fall = fall + real(right.weight) * (r - here) * ((right_mean - r) + (right_mean - here));
  return std::min(most, fall * (t.factor * real(t.weight)));
}

}  // namespace

ScanResult constrained_scan(const ScanTask& t, bool packed, std::int8_t trend, const ValueRange& range) {
  ScanResult best{-1.0, 0, MissingSide::unseen};
  const size_t bins = index(t.value_bins);
  const Side missing = t.has_missing ? cell_of(t, packed, bins) : Side{};
  auto judge = [&](const Side& left, size_t b, MissingSide side) {
    const Side right{t.gradient - left.gradient, t.weight - left.weight};
    const bool heavy = real(left.weight) >= t.min_weight && real(right.weight) >= t.min_weight;
    if (!heavy || left.weight == 0 || right.weight == 0) return;
    // The last threshold parts missing values from all others, which have no order to keep.
    const double gain = constrained_gain(t, left, right, b + 1 < bins ? trend : 0, range);
    if (gain > 0 && gain > best.gain) best = {gain, narrow<std::uint16_t>(b), side};
  };
  Side left;
  for (size_t b = 0; b < bins; ++b) {
    left.add(cell_of(t, packed, b));
    judge(left, b, missing.weight > 0 ? MissingSide::right : MissingSide::unseen);
    if (missing.weight == 0) continue;
    Side with_missing = left;
    with_missing.add(missing);
    judge(with_missing, b, MissingSide::left);
  }
  return best;
}

}  // namespace frugal
