#include "grow/drawn.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "support/mixing.hpp"

namespace frugal {
namespace {

// Streams of random numbers that differ from each other, and from those of the directions among classes.
constexpr std::uint64_t kRowStream = 2, kColumnStream = 3;

std::uint64_t key_of(std::uint64_t seed, std::uint64_t stream, std::uint64_t iteration) {
  return mixed(mixed(seed + stream * kMixStep) + iteration * kMixStep);
}

}  // namespace

size_t columns_to_draw(double max_features, size_t columns) {
  const double d = real(columns);
  double count = max_features;
  if (max_features == 0) count = d;
  if (max_features > 0 && max_features < 1) count = max_features * d;
  if (max_features == kRootOfColumns) count = std::sqrt(d);
  if (max_features == kLogOfColumns) count = real(std::bit_width(columns)) - 1.0;
  return std::clamp<size_t>(truncated<size_t>(std::min(count, d)), std::min<size_t>(1, columns), columns);
}

Drawn drawn(const Params& params, size_t columns, std::uint64_t iteration) {
  Drawn out{{key_of(params.seed, kRowStream, iteration), params.subsample}, {}};
  const size_t count = columns_to_draw(params.max_features, columns);
  if (count == columns) return out;
  const std::uint64_t key = key_of(params.seed, kColumnStream, iteration);
  std::vector<std::pair<std::uint64_t, size_t>> hashes;
  for (size_t c = 0; c < columns; ++c) hashes.emplace_back(mixed(key + (c + 1) * kMixStep), c);
  std::nth_element(hashes.data(), hashes.data() + count, hashes.data() + columns);
  out.columns.resize(columns);
  for (size_t i = 0; i < count; ++i) out.columns[hashes[i].second] = 1;
  return out;
}

}  // namespace frugal
