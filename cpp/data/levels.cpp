#include "data/levels.hpp"

#include <algorithm>

namespace frugal {
namespace {

struct Group {
  std::int64_t gradient, weight;
  Bin lowest_bin;
  Bin number;  // before sorting
};

// Whether a's mean gradient is smaller, by exact products; ties go to the lowest bin.
bool before(const Group& a, const Group& b) {
  const Int128 left = Int128{a.gradient} * b.weight, right = Int128{b.gradient} * a.weight;
  return left != right ? left < right : a.lowest_bin < b.lowest_bin;
}

}  // namespace

LevelGroups::LevelGroups(const std::int64_t* by_bin, Bin bins, double min_weight) {
  std::array<Group, kMostBins> groups;
  Bin light = kNoRows;  // the group of light bins, once there is one
  group_of_bin.fill(kNoRows);
  for (Bin b = 0; b < bins; ++b) {
    const std::int64_t gradient = by_bin[2 * b], weight = by_bin[2 * b + 1];
    if (weight == 0) continue;
    const bool is_light = real(weight) < min_weight;
    if (is_light && light != kNoRows) {
      groups[light].gradient += gradient;
      groups[light].weight += weight;
      group_of_bin[b] = light;
      continue;
    }
    if (is_light) light = count;
    group_of_bin[b] = count;
    groups[count] = {gradient, weight, b, count};
    ++count;
  }
  std::sort(groups.data(), groups.data() + count, before);
  std::array<Bin, kMostBins> rank;  // by the number before sorting
  for (Bin i = 0; i < count; ++i) {
    rank[groups[i].number] = i;
    cells[2 * i] = groups[i].gradient;
    cells[2 * i + 1] = groups[i].weight;
  }
  for (Bin b = 0; b < bins; ++b)
    if (group_of_bin[b] != kNoRows) group_of_bin[b] = rank[group_of_bin[b]];
}

}  // namespace frugal
