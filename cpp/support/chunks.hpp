// The rows of several nodes cut into chunks that are small enough to be shared out among threads.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "support/types.hpp"

namespace frugal {

struct Chunk {
  size_t owner;    // which of the nodes
  Row begin, end;  // places in the row partition
};

// Cuts the rows of every item into chunks of at most `most` rows. `node(item)` returns the node of an item.
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

// Calls body(item, rows) with the rows of every item that are in [begin, end) of the table. Values that are looked up
// by row then stay in the cache for all nodes. `rows(item)` returns a node's rows in ascending order.
template <class Items, class RowsOf, class Body>
void in_block(const Items& items, size_t begin, size_t end, const RowsOf& rows, const Body& body) {
  for (size_t i = 0; i < items.size(); ++i) {
    const std::span<const Row> all = rows(items[i]);
    const auto from = std::lower_bound(all.begin(), all.end(), begin);
    const auto to = std::lower_bound(from, all.end(), end);
    if (from != to) body(i, std::span<const Row>(from, to));
  }
}

}  // namespace frugal
