#include "data/levels.hpp"

#include <algorithm>

#include "support/types.hpp"

namespace frugal {

LevelGroups::LevelGroups(const std::int64_t* by_bin, int bins, double min_weight) {
  struct Group {
    std::int64_t gradient, weight;
    int bin;  // the lowest
  };
  std::array<Group, kMostBins> groups;
  std::array<std::int16_t, kMostBins> number;  // of each bin's group before sorting
  int light = -1;
  for (int b = 0; b < bins; ++b) {
    number[static_cast<size_t>(b)] = -1;
    const std::int64_t gradient = by_bin[2 * b], weight = by_bin[2 * b + 1];
    if (weight == 0) continue;
    const bool is_light = static_cast<double>(weight) < min_weight;
    if (is_light && light >= 0) {
      groups[static_cast<size_t>(light)].gradient += gradient;
      groups[static_cast<size_t>(light)].weight += weight;
      number[static_cast<size_t>(b)] = static_cast<std::int16_t>(light);
      continue;
    }
    if (is_light) light = count;
    number[static_cast<size_t>(b)] = static_cast<std::int16_t>(count);
    groups[static_cast<size_t>(count++)] = {gradient, weight, b};
  }
  std::array<std::int16_t, kMostBins> order, rank;
  for (int g = 0; g < count; ++g) order[static_cast<size_t>(g)] = static_cast<std::int16_t>(g);
  std::sort(order.begin(), order.begin() + count, [&](std::int16_t a, std::int16_t b) {
    const Group &x = groups[static_cast<size_t>(a)], &y = groups[static_cast<size_t>(b)];
    const Wide left = Wide{x.gradient} * y.weight, right = Wide{y.gradient} * x.weight;
    return left != right ? left < right : x.bin < y.bin;
  });
  for (int i = 0; i < count; ++i) {
    const auto g = static_cast<size_t>(order[static_cast<size_t>(i)]);
    rank[g] = static_cast<std::int16_t>(i);
    cells[static_cast<size_t>(2 * i)] = groups[g].gradient;
    cells[static_cast<size_t>(2 * i + 1)] = groups[g].weight;
  }
  group_of_bin.fill(-1);
  for (int b = 0; b < bins; ++b)
    if (number[static_cast<size_t>(b)] >= 0)
      group_of_bin[static_cast<size_t>(b)] = rank[static_cast<size_t>(number[static_cast<size_t>(b)])];
}

}  // namespace frugal
