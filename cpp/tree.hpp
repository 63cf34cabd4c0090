// Trees as flat parallel arrays, nodes breadth first, and an ensemble as those arrays one after another.
#pragma once

#include <vector>

#include "types.hpp"

namespace frugal {

// While a tree grows, bins say where rows go; the frozen form keeps thresholds.
struct Tree {
  std::vector<std::int32_t> feature;  // -1: a leaf
  std::vector<std::int32_t> left;     // the right child is the next node
  std::vector<std::uint8_t> missing_left;
  std::vector<double> threshold;  // x <= threshold goes left
  std::vector<double> value;      // what a leaf adds to the raw prediction, learning rate included
  std::vector<double> gain;       // raw gain of the split, prices apart
  std::vector<double> weight;     // total weight of the training rows
  std::vector<std::int32_t> bin;  // the threshold as a bin; not kept in the ensemble

  size_t nodes() const { return feature.size(); }
  bool is_leaf(size_t node) const { return feature[node] < 0; }
  int add(double node_weight) {
    feature.push_back(-1);
    left.push_back(-1);
    missing_left.push_back(0);
    threshold.push_back(kInfinity);
    value.push_back(0.0);
    gain.push_back(0.0);
    weight.push_back(node_weight);
    bin.push_back(0);
    return static_cast<int>(nodes()) - 1;
  }
};

struct Ensemble {
  std::vector<double> start;                // one raw prediction for each output
  std::vector<std::int64_t> tree_begin{0};  // first node of every tree; tree t belongs to output t % outputs
  Tree nodes;                               // of all trees; `left` counts from the tree's first node

  size_t outputs() const { return start.size(); }
  size_t trees() const { return tree_begin.size() - 1; }
  void add(const Tree& tree) {
    auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(nodes.feature, tree.feature);
    append(nodes.left, tree.left);
    append(nodes.missing_left, tree.missing_left);
    append(nodes.threshold, tree.threshold);
    append(nodes.value, tree.value);
    append(nodes.gain, tree.gain);
    append(nodes.weight, tree.weight);
    tree_begin.push_back(static_cast<std::int64_t>(nodes.feature.size()));
  }
};

}  // namespace frugal
