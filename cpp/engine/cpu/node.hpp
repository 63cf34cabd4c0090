// An open node: its rows in this part of the table, and its sums over all parts.
#pragma once

#include "engine/engine.hpp"

namespace frugal {

// Its rows are [begin, end) of one of the row partition's two lists for the tree.
struct OpenNode {
  size_t output = 0;  // its tree: that of an output, or 0 for the tree of all outputs
  Row begin = 0, end = 0;
  size_t list = 0;
  NodeSums sums;
  ValueRange range;
  Row rows() const { return end - begin; }  // in this part of the table
};

// The two children of a node, or a root.
struct Siblings {
  size_t small = kNone, large = kNone;  // numbers in the level: the one with fewer rows, and the other; a root is small
  size_t parent = kNone;                // number in the level above
};

// The nodes of one depth of all trees of an iteration.
struct Level {
  std::vector<OpenNode> nodes;
  std::vector<Siblings> pairs;
  std::vector<std::array<size_t, 2>> waiting;  // nodes that were in the level above too: numbers here, and there
};

}  // namespace frugal
