// Stretches of rows of several nodes, small enough to share out among threads.
#pragma once

#include <algorithm>
#include <vector>

#include "types.hpp"

namespace frugal {

struct Chunk {
  size_t owner;    // which of the nodes
  Row begin, end;  // places in the row partition
};

// `node(item)` gives the node of an item.
template <class Items, class NodeOf>
std::vector<Chunk> cut(const Items& items, Row most, const NodeOf& node) {
  std::vector<Chunk> chunks;
  for (size_t i = 0; i < items.size(); ++i)
    for (Row at = node(items[i]).begin; at < node(items[i]).end;) {
      const Row next = at + std::min(most, node(items[i]).end - at);
      chunks.push_back({i, at, next});
      at = next;
    }
  return chunks;
}

}  // namespace frugal
