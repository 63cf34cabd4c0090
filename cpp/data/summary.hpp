// A summary of the values of a column and their weights, from which thresholds are found. Rows may be added in any
// order and in pieces of any size, and the thresholds are the same to the last bit.
#pragma once

#include <optional>
#include <vector>

#include "support/types.hpp"

namespace frugal {

// Each distinct value with its weight, as long as there are at most `most`. If there are more, neighbours share a cell:
// numbers are ordered as 64-bit integers, and as many low bits are dropped as needed, equally many for the whole
// column. How many depends only on the set of values, because values that share a cell still share it when more bits
// are dropped.
class Summary {
 public:
  explicit Summary(size_t most) : most_(most) {}

  struct Spare {  // memory that is reused from call to call
    std::vector<std::uint64_t> keys;
    std::vector<std::uint32_t> short_keys;
    std::vector<std::pair<std::uint64_t, std::int64_t>> weighted;
  };
  // Values of weight 1, or with the weights in `units`. NaN is a missing value; values of weight zero are ignored.
  void add(std::span<const double> values, const std::int64_t* units, Spare& spare);
  void add(double value, std::int64_t mass);

  // The summary as numbers that can be sent to another part of the table, and added there.
  std::vector<std::int64_t> packed() const;
  void add_packed(std::span<const std::int64_t> packed);

  // Thresholds between bins: one bin for each value if there are at most `max_bins`, else bins of about equal weight.
  std::vector<double> cuts(size_t max_bins) const;

  // All distinct values, ascending, if there are at most `most` of them; else nothing.
  std::optional<std::vector<double>> distinct(size_t most) const;

 private:
  struct Cell {
    std::uint64_t key;  // without the dropped bits
    double low, high;   // the smallest and the largest value seen
    std::int64_t mass;
  };
  template <class Entry>
  void add_sorted(std::span<const Entry> sorted, std::int64_t zeros);
  void merge(std::vector<Cell> more);
  void coarsen();
  void drop(size_t bits);
  std::vector<size_t> equal_weight_bins(size_t max_bins) const;

  size_t most_;
  size_t dropped_ = 0;  // bits
  std::vector<Cell> cells_;
};

// A threshold that separates a < b: the middle, or a itself if there is no double between them.
double between(double a, double b);

}  // namespace frugal
