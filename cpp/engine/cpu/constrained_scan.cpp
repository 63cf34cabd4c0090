#include "engine/cpu/constrained_scan.hpp"

#include <algorithm>

#include "engine/constrained_gain.hpp"
#include "support/packed_cell.hpp"

namespace frugal {
namespace {

SideSums cell_of(const ScanTask& t, bool packed, size_t b) {
  if (packed) return {packed_gradient(t.cells[b]), packed_count(t.cells[b])};
  return {t.cells[2 * b], t.cells[2 * b + 1]};
}

// 1/2 (GL^2/WL + GR^2/WR - G^2/W), from exact products that are rounded once.
double free_gain(const ScanTask& t, const SideSums& left, const SideSums& right) {
  const double numerator = real(Int128{left.gradient} * right.weight) - real(Int128{right.gradient} * left.weight);
  return (numerator * numerator) / (real(left.weight) * real(right.weight)) * t.factor;
}

}  // namespace

ScanResult constrained_scan(const ScanTask& t, bool packed, std::int8_t trend, const ValueRange& range) {
  ScanResult best{-1.0, 0, MissingSide::unseen};
  const size_t bins = index(t.value_bins);
  const SideSums missing = t.has_missing ? cell_of(t, packed, bins) : SideSums{};
  auto judge = [&](const SideSums& left, size_t b, MissingSide side) {
    const SideSums right{t.gradient - left.gradient, t.weight - left.weight};
    const bool heavy = real(left.weight) >= t.min_weight && real(right.weight) >= t.min_weight;
    if (!heavy || left.weight == 0 || right.weight == 0) return;
    // The last threshold parts missing values from all others, which have no order to keep.
    const double gain = constrained_gain({t.gradient, t.weight, t.factor}, left, right, free_gain(t, left, right),
                                         b + 1 < bins ? trend : 0, {range.low, range.high});
    if (gain > 0 && gain > best.gain) best = {gain, narrow<std::uint16_t>(b), side};
  };
  SideSums left;
  for (size_t b = 0; b < bins; ++b) {
    left.add(cell_of(t, packed, b));
    judge(left, b, missing.weight > 0 ? MissingSide::right : MissingSide::unseen);
    if (missing.weight == 0) continue;
    SideSums with_missing = left;
    with_missing.add(missing);
    judge(with_missing, b, MissingSide::left);
  }
  return best;
}

}  // namespace frugal
