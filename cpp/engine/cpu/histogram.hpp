// Histograms of the dense columns: for every bin of a column, the sum of gradients and of weights of a node's rows.
//
// A cell is one 64-bit word (gradient sum above an 18-bit row count) where the table has fewer than 2^18 rows
// and no weights: one addition a row. Otherwise it is two words; without weights rows are still added to
// one-word cells first, a stretch at a time, and then spread out. All sums are exact, so parts may be added
// and a child subtracted from its parent in any order.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/engine.hpp"
#include "support/aligned.hpp"

namespace frugal {

// Rows of a node with their gradients in the same order.
struct NodeRows {
  const Row* rows = nullptr;  // nullptr: `count` rows of the table from `first` on
  size_t first = 0;
  const std::int32_t* q = nullptr;      // gradients on the grid
  const std::int64_t* units = nullptr;  // weights; nullptr: all 1
  size_t count = 0;

  NodeRows part(size_t begin, size_t end) const {
    return {rows ? rows + begin : nullptr, first + begin, q + begin, units ? units + begin : nullptr, end - begin};
  }
  // Those in [begin, end) of the table.
  NodeRows between(size_t begin, size_t end) const {
    if (rows == nullptr)
      return part(std::clamp(begin, first, first + count) - first, std::clamp(end, first, first + count) - first);
    const Row* from = std::lower_bound(rows, rows + count, begin);
    return part(static_cast<size_t>(from - rows),
                static_cast<size_t>(std::lower_bound(from, rows + count, end) - rows));
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

  // Fills the cells of one group of columns, at least of those lanes whose bits are set. `scratch` is this thread's,
  // most_group_words() long.
  void build(const NodeRows& rows, size_t group, std::int64_t* cells, std::int64_t* scratch,
             std::uint8_t wanted = 255) const;

  // A part of a node's histogram, of at most kCountMask rows, in cells that may be narrower than the node's.
  size_t part_words() const { return words() / narrower(); }
  void add_to_part(const NodeRows& rows, size_t group, std::int64_t* part) const {
    add(rows, group, part + group_begin(group) / narrower(), 255);
  }
  void add_part(const std::int64_t* part, size_t group, std::int64_t* cells) const {
    widen(part + group_begin(group) / narrower(), group, cells);
  }

 private:
  size_t narrower() const { return weighted_ || one_word() ? 1 : 2; }
  void add(const NodeRows& rows, size_t group, std::int64_t* cells, std::uint8_t wanted) const;
  void widen(const std::int64_t* from, size_t group, std::int64_t* cells) const;

  Lanes lanes_;
  bool weighted_;
  int words_per_cell_;
  std::vector<size_t> offsets_;
  size_t most_group_words_ = 0;
};

}  // namespace frugal
