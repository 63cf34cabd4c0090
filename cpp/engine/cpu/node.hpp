// A node that may still be split, as this engine keeps it: where its rows are here, and sums over the rows everywhere.
#pragma once

#include "engine/engine.hpp"

namespace frugal {

// Rows are [begin, end) of one of the row partition's two lists for the output.
struct OpenNode {
  size_t output = 0;  // whose tree it is in
  Row begin = 0, end = 0;
  size_t list = 0;
  NodeSums sums;
  Row rows() const { return end - begin; }  // in this part of the table
};

// Two nodes of one parent, or a root alone.
struct Siblings {
  size_t small = kNone, large = kNone;  // numbers in the level, by rows; a root has no sibling
  size_t parent = kNone;                // number in the level above
};

// The nodes of one depth of all trees of an iteration.
struct Level {
  std::vector<OpenNode> nodes;
  std::vector<Siblings> pairs;
};

}  // namespace frugal
