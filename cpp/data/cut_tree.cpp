#include "data/cut_tree.hpp"

#include <cmath>

#include "support/kernels.hpp"

namespace frugal {

namespace {

// A value v of single precision is at most c exactly if it is at most the largest such number below c.
float rounded_down(double c) {
  const auto nearest = static_cast<float>(c);
  return double{nearest} > c ? std::nextafter(nearest, -std::numeric_limits<float>::infinity()) : nearest;
}

// Values that lie side by side, copied if they do not.
template <class T>
const T* side_by_side(const T* values, std::ptrdiff_t step, size_t begin, size_t count, T* copy) {
  const T* v = values + narrow<std::ptrdiff_t>(begin) * step;
  if (step == 1) return v;
  for (size_t i = 0; i < count; ++i) copy[i] = v[narrow<std::ptrdiff_t>(i) * step];
  return copy;
}

}  // namespace

CutTree cut_tree(std::span<const double> cuts, Element element) {
  CutTree tree;
  tree.cuts = cuts.data();
  tree.count = cuts.size();
  tree.levels = CutTree::kLeastLevels;
  while ((size_t{1} << tree.levels) <= cuts.size()) ++tree.levels;
  tree.nodes[0] = 0;
  for (int level = 0; level < tree.levels; ++level) {
    const size_t nodes = size_t{1} << level, step = size_t{1} << (tree.levels - level);
    for (size_t i = 0; i < nodes; ++i) {
      const size_t place = i * step + step / 2 - 1;
      float& node = tree.nodes[nodes + i];
      if (place >= cuts.size()) {
        node = std::numeric_limits<float>::infinity();
      } else {
        node = element == Element::f32 ? rounded_down(cuts[place]) : static_cast<float>(cuts[place]);
      }
    }
  }
  return tree;
}

bool bins_of(const Column& column, size_t begin, size_t end, const CutTree& tree, std::uint8_t* out) {
  const size_t n = end - begin;
  if (column.element == Element::f32) {
    float copy[kBinRows];
    const auto* values = static_cast<const float*>(column.data);
    return kernels().bins_of_floats(n, side_by_side(values, column.step, begin, n, copy), tree, out);
  }
  double copy[kBinRows];
  if (column.element == Element::f64) {
    const auto* values = static_cast<const double*>(column.data);
    return kernels().bins_of_doubles(n, side_by_side(values, column.step, begin, n, copy), tree, out);
  }
  column.read(begin, end, copy);
  return kernels().bins_of_doubles(n, copy, tree, out);
}

}  // namespace frugal
