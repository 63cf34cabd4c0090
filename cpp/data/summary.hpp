// What is known of the values of a column: how much weight lies where. Parts of a table may be added in any order and
// in pieces of any size, and the answer is the same to the last bit.
#pragma once

#include <vector>

#include "support/types.hpp"

namespace frugal {

// Distinct values with their weights, while there are few. Beyond `most` of them neighbours share a cell: numbers are
// ordered as 64-bit integers, and as many low bits are left out as needed, the same number for the whole column. That
// number depends on the set of values alone, because leaving out more bits never parts what fewer bits had joined.
class Summary {
 public:
  explicit Summary(size_t most) : most_(most) {}

  struct Spare {  // memory that calls share
    std::vector<std::uint64_t> keys;
    std::vector<std::pair<std::uint64_t, std::int64_t>> weighted;
  };
  // Values of weight 1, or of so many units each. NaN counts as missing; values of weight zero are left out.
  void add(std::span<const double> values, const std::int64_t* units, Spare& spare);
  void add(double value, std::int64_t mass);

  // What other parts of a table know of the same column, as numbers to be sent, and taken over.
  std::vector<std::int64_t> packed() const;
  void add_packed(std::span<const std::int64_t> packed);

  // Thresholds between bins: one bin for each value where at most `max_bins` are seen, else of about equal weight.
  std::vector<double> cuts(int max_bins) const;

 private:
  struct Cell {
    std::uint64_t key;  // without the bits left out
    double low, high;   // the least and the largest value seen
    std::int64_t mass;
  };
  void merge(const std::vector<Cell>& more);
  void coarsen();
  void leave_out(int bits);
  std::vector<size_t> equal_weight_bins(int max_bins) const;

  size_t most_;
  int left_out_ = 0;  // bits
  std::vector<Cell> cells_;
};

}  // namespace frugal
