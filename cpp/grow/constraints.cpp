#include "grow/constraints.hpp"

#include <algorithm>

namespace frugal {
namespace {

bool contains(const std::vector<size_t>& sorted, size_t column) {
  return std::binary_search(sorted.begin(), sorted.end(), column);
}

// The columns that may meet those of a way.
std::vector<std::uint8_t> columns_beside(const Constraints& constraints, const std::vector<size_t>& way,
                                         size_t columns) {
  const bool free = constraints.interactions == Interactions::pairs && way.size() < 2;
  std::vector<std::uint8_t> out(columns, free);
  for (size_t c : way) out[c] = 1;
  for (const auto& group : constraints.groups)
    if (std::all_of(way.begin(), way.end(), [&](size_t c) { return contains(group, c); }))
      for (size_t c : group) out[c] = 1;
  return out;
}

std::shared_ptr<const Way> longer(const Constraints& constraints, const std::shared_ptr<const Way>& way, size_t column,
                                  size_t columns) {
  if (constraints.interactions == Interactions::all) return nullptr;
  Way next;
  if (way) next.columns = way->columns;
  if (std::find(next.columns.begin(), next.columns.end(), column) != next.columns.end()) return way;
  next.columns.push_back(column);
  next.may_meet = columns_beside(constraints, next.columns, columns);
  return std::make_shared<const Way>(std::move(next));
}

// The values of the leaves of one tree.
class LeafValuesOf {
 public:
  LeafValuesOf(const Tree& tree, std::span<const size_t> leaves, std::span<double> values)
      : tree_(tree), at_(tree.nodes(), nullptr) {
    for (size_t i = 0; i < leaves.size(); ++i) at_[leaves[i]] = &values[i];
  }

  // No leaf below the one node stays above a leaf below the other.
  void part(size_t low, size_t high) {
    const std::vector<double*> below = leaves_of(low), above = leaves_of(high);
    auto less = [](const double* a, const double* b) { return *a < *b; };
    const double most = **std::max_element(below.begin(), below.end(), less);
    const double least = **std::min_element(above.begin(), above.end(), less);
    if (most <= least) return;
    const double middle = std::min(std::max(0.5 * mean(low) + 0.5 * mean(high), least), most);
    for (double* value : below) *value = std::min(*value, middle);
    for (double* value : above) *value = std::max(*value, middle);
  }

 private:
  std::vector<double*> leaves_of(size_t node) const {
    std::vector<double*> out;
    for (std::vector<size_t> open{node}; !open.empty();) {
      const size_t n = open.back();
      open.pop_back();
      if (tree_.is_leaf(n)) {
        out.push_back(at_[n]);
      } else {
        open.insert(open.end(), {tree_.left_child(n), tree_.left_child(n) + 1});
      }
    }
    return out;
  }

  // The mean value of the leaves below a node, by their weights.
  double mean(size_t node) const {
    if (tree_.is_leaf(node)) return *at_[node];
    const size_t left = tree_.left_child(node), right = left + 1;
    const double l = tree_.weight[left], r = tree_.weight[right];
    return (l * mean(left) + r * mean(right)) / (l + r);
  }

  const Tree& tree_;
  std::vector<double*> at_;  // by node
};

}  // namespace

NodeLimits below(const Constraints& constraints, const NodeLimits& node, size_t column, bool by_value, size_t columns) {
  NodeLimits out{node.range, 0, longer(constraints, node.way, column, columns)};
  if (constraints.has_trends() && by_value) out.order = constraints.trends[column];
  return out;
}

void confine(const NodeSums& left, const NodeSums& right, NodeLimits& left_limits, NodeLimits& right_limits) {
  if (left_limits.order == 0) return;
  const double middle = 0.5 * left_limits.range.value(left) + 0.5 * right_limits.range.value(right);
  const bool left_is_low = left_limits.order > 0;
  (left_is_low ? left_limits : right_limits).range.high = middle;
  (left_is_low ? right_limits : left_limits).range.low = middle;
}

void put_in_order(const Tree& tree, std::span<const std::int8_t> trends, std::span<const size_t> leaves,
                  std::span<double> values) {
  LeafValuesOf own(tree, leaves, values);
  for (size_t n = 0; n < tree.nodes(); ++n) {
    if (tree.is_leaf(n) || tree.by_levels(n) || !(tree.threshold[n] < kInfinity)) continue;
    const int trend = trends[tree.column(n)];
    const size_t left = tree.left_child(n), right = left + 1;
    if (trend != 0) own.part(trend > 0 ? left : right, trend > 0 ? right : left);
  }
}

}  // namespace frugal
