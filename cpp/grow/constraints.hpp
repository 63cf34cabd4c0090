// What a user forbids: predictions that fall or rise with a column, and columns that meet on the way to a leaf.
#pragma once

#include <memory>
#include <vector>

#include "engine/engine.hpp"
#include "tree/tree.hpp"

namespace frugal {

// Which columns may meet on the way from a root to a leaf.
enum class Interactions { all, none, pairs, groups };

struct Constraints {
  std::vector<std::int8_t> trends;  // -1, 0 or 1 for every column; empty: no column has one
  Interactions interactions = Interactions::all;
  std::vector<std::vector<size_t>> groups;  // each in ascending order; every column is in one of them or more

  bool has_trends() const { return !trends.empty(); }
};

// The columns on the way to a node, and those that it may be split on.
struct Way {
  std::vector<size_t> columns;         // without repetitions
  std::vector<std::uint8_t> may_meet;  // by column of the table
};

// What constraints ask of a node.
struct NodeLimits {
  ValueRange range;                // of its mean gradient; until `confine`, that of its parent
  std::int8_t order = 0;           // of its parent's children: 1: the left one's value is the lower one, -1: the higher
  std::shared_ptr<const Way> way;  // nullptr: it may be split on all columns

  bool allows(size_t column) const { return !way || way->may_meet[column]; }
};

// The limits of the children of a node that is split on a column; `by_value`: by a threshold that parts values.
NodeLimits below(const Constraints& constraints, const NodeLimits& node, size_t column, bool by_value, size_t columns);

// The ranges of two siblings, from that of their parent: their values meet in the middle.
void confine(const NodeSums& left, const NodeSums& right, NodeLimits& left_limits, NodeLimits& right_limits);

// Brings the values of a tree's leaves into the order that its splits ask for, from the root on; values[i] is that of
// leaves[i].
void put_in_order(const Tree& tree, std::span<const std::int8_t> trends, std::span<const size_t> leaves,
                  std::span<double> values);

}  // namespace frugal
