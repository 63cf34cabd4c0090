// A tree as parallel arrays with one entry per node, in breadth-first order; an ensemble is the arrays of its trees one
// after another.
#pragma once

#include <vector>

#include "data/levels.hpp"
#include "support/mask.hpp"
#include "support/types.hpp"

namespace frugal {

// Signed 32-bit numbers where a model file has them.
struct Tree {
  std::vector<std::int32_t> feature;  // -1: a leaf
  std::vector<std::int32_t> left;     // the left child; the right child is the next node
  std::vector<std::uint8_t> missing_left;
  std::vector<double> threshold;        // x <= threshold goes left
  std::vector<double> value;            // a leaf adds it to the raw prediction; includes the learning rate
  std::vector<double> gain;             // raw gain of the split, without prices
  std::vector<double> weight;           // total weight of the training rows
  std::vector<std::int32_t> level_set;  // number of the set of bins that go left; -1: a threshold decides
  std::vector<std::uint8_t> sets;       // kSetBytes each
  // A tree without splits may be a line: a row adds value + slope * the score of its value in a column.
  std::vector<std::int32_t> line;  // the column; -1: no line
  std::vector<double> slope;       // includes the learning rate
  std::vector<Bin> bin;            // the last bin that goes left; not kept in the ensemble

  size_t nodes() const { return feature.size(); }
  // Adds the set of the bins for which goes_left(bin) is true; returns its number.
  template <class GoesLeft>
  std::int32_t add_set(size_t bins, const GoesLeft& goes_left) {
    const size_t begin = sets.size();
    sets.resize(begin + kSetBytes);
    for (size_t b = 0; b < bins; ++b)
      if (goes_left(b)) sets[begin + b / 8] |= bit_of(b);
    return narrow<std::int32_t>(begin / kSetBytes);
  }
  bool is_leaf(size_t node) const { return feature[node] < 0; }
  bool is_line() const { return line[0] >= 0; }
  size_t column(size_t node) const { return index(feature[node]); }
  size_t left_child(size_t node) const { return index(left[node]); }
  bool by_levels(size_t node) const { return level_set[node] >= 0; }
  const std::uint8_t* levels(size_t node) const { return sets.data() + kSetBytes * index(level_set[node]); }
  size_t add(double node_weight) {
    feature.push_back(-1);
    left.push_back(-1);
    missing_left.push_back(0);
    threshold.push_back(kInfinity);
    value.push_back(0.0);
    gain.push_back(0.0);
    weight.push_back(node_weight);
    level_set.push_back(-1);
    line.push_back(-1);
    slope.push_back(0.0);
    bin.push_back(0);
    return nodes() - 1;
  }
};

struct Ensemble {
  std::vector<double> start;                // the raw prediction of each output before the first tree
  std::vector<std::int64_t> tree_begin{0};  // the first node of every tree; tree t belongs to output t % outputs
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
    append(nodes.line, tree.line);
    append(nodes.slope, tree.slope);
    const auto known = narrow<std::int32_t>(nodes.sets.size() / kSetBytes);
    for (std::int32_t set : tree.level_set) nodes.level_set.push_back(set < 0 ? -1 : set + known);
    append(nodes.sets, tree.sets);
    tree_begin.push_back(narrow<std::int64_t>(nodes.feature.size()));
  }
};

}  // namespace frugal
