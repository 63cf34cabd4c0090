// Histograms of the dense columns: for every bin of a column, the sum of gradients and of weights of a node's rows.
//
// A cell is one 64-bit word (gradient sum above an 18-bit row count) where the table has fewer than 2^18 rows
// and no weights: one addition a row. Otherwise it is two words; without weights rows are still added to
// one-word cells first, a stretch at a time, and then spread out. All sums are exact, so parts may be added
// and a child subtracted from its parent in any order.
#pragma once

#include <vector>

#include "aligned.hpp"
#include "binning.hpp"
#include "fixed_point.hpp"
#include "types.hpp"

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
};

class Histograms {
 public:
  Histograms(const BinnedMatrix& X, Lanes lanes, bool weighted);

  size_t words() const { return offsets_.back(); }  // of a whole node
  size_t column_begin(size_t place) const { return offsets_[place]; }
  size_t group_begin(size_t g) const { return offsets_[g * kLanes]; }
  size_t group_words(size_t g) const;
  size_t most_group_words() const { return most_group_words_; }
  const Lanes& lanes() const { return lanes_; }
  bool one_word() const { return words_per_cell_ == 1; }

  // Fills the cells of one group of columns. `scratch` is this thread's, most_group_words() long.
  void build(const NodeRows& rows, size_t group, std::int64_t* cells, std::int64_t* scratch) const;

 private:
  void add_in_stretches(const NodeRows& rows, size_t group, std::int64_t* cells, std::int64_t* scratch) const;

  Lanes lanes_;
  bool weighted_;
  int words_per_cell_;
  std::vector<size_t> offsets_;
  size_t most_group_words_ = 0;
};

}  // namespace frugal
