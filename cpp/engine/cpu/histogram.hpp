// Histograms of dense columns: for every bin of a column, the sums of gradients and of weights of a node's rows.
//
// If the table has fewer than 2^18 rows and no weights, a cell is one word (support/packed_cell.hpp), so that each row
// takes one addition. Otherwise it is two words; without weights rows are still added to one-word cells first, fewer
// than 2^18 at a time, which are then added to the cells of two words. All sums are exact, so parts may be added, and a
// child subtracted from its parent, in any order.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/engine.hpp"
#include "support/aligned.hpp"

namespace frugal {

// The rows of a node, with their gradients and weights in the same order.
struct NodeRows {
  const Row* rows = nullptr;  // nullptr: rows [first, first + count) of the table
  size_t first = 0;
  const std::int32_t* q = nullptr;      // gradients on the grid
  const std::int64_t* units = nullptr;  // weights; nullptr: all 1
  size_t count = 0;

  NodeRows part(size_t begin, size_t end) const {
    return {rows ? rows + begin : nullptr, first + begin, q + begin, units ? units + begin : nullptr, end - begin};
  }
  // The rows that are in [begin, end) of the table.
  NodeRows between(size_t begin, size_t end) const {
    if (rows == nullptr)
      return part(std::clamp(begin, first, first + count) - first, std::clamp(end, first, first + count) - first);
    const Row* from = std::lower_bound(rows, rows + count, begin);
    const Row* to = std::lower_bound(from, rows + count, end);
    return part(index(from - rows), index(to - rows));
  }
};

class Histograms {
 public:
  Histograms(const TableFacts& table, Lanes lanes);

  size_t words() const { return offsets_.back(); }  // of a whole node
  size_t column_begin(size_t place) const { return offsets_[place]; }
  size_t group_begin(size_t g) const { return offsets_[lanes_.first(g)]; }
  size_t group_words(size_t g) const;
  size_t most_group_words() const { return most_group_words_; }
  const Lanes& lanes() const { return lanes_; }
  bool one_word() const { return words_per_cell_ == 1; }

  // Fills the cells of a group of columns, at least those of the columns whose bits are set in `wanted`. `scratch` is
  // memory of this thread, most_group_words() long.
  void build(const NodeRows& rows, size_t group, std::int64_t* cells, std::int64_t* scratch,
             std::uint8_t wanted = 255) const;

  // A histogram of a part of a node's rows, at most kMostCounted. Its cells may be narrower than those of the node.
  size_t part_words() const { return words() / narrower(); }
  void add_to_part(const NodeRows& rows, size_t group, std::int64_t* part) const {
    add(rows, group, part + group_begin(group) / narrower(), 255);
  }
  void add_part(const std::int64_t* part, size_t group, std::int64_t* cells) const {
    widen(part + group_begin(group) / narrower(), group, cells);
  }

 private:
  size_t narrower() const { return weighted_ || one_word() ? 1 : 2; }  // by this factor
  void add(const NodeRows& rows, size_t group, std::int64_t* cells, std::uint8_t wanted) const;
  void widen(const std::int64_t* from, size_t group, std::int64_t* cells) const;

  Lanes lanes_;
  bool weighted_;
  size_t words_per_cell_;
  std::vector<size_t> offsets_;
  size_t most_group_words_ = 0;
};

}  // namespace frugal
