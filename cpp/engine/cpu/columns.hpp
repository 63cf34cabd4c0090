// Copies of some columns in the layout that searches need: owned and offered columns in groups of eight, for histograms
// of all of them; and single columns one by one, for splitting a node's rows and for searching one column.
#pragma once

#include <memory>

#include "data/binning.hpp"
#include "data/lanes.hpp"
#include "support/threads.hpp"

namespace frugal {

// Columns in groups of eight.
class PackedColumns {
 public:
  explicit PackedColumns(const BinnedMatrix& X) : X_(X) { lanes_.rows = X.rows(); }
  // Replaces all columns.
  void set(std::span<const size_t> columns, Context& context);
  // Adds one column, from a contiguous copy of its bins.
  void add(size_t column, const std::uint8_t* bins, Context& context);
  const Lanes& lanes() const { return lanes_; }

 private:
  const BinnedMatrix& X_;
  Lanes lanes_;
  std::vector<std::unique_ptr<std::uint8_t[]>> memory_;  // of groups; kept when there are fewer of them
};

// Columns one by one.
class SingleColumns {
 public:
  explicit SingleColumns(const BinnedMatrix& X) : X_(X), place_(X.columns(), kNone) {
    lanes_.rows = X.rows();
    lanes_.in_group = 1;
  }
  // Copies a column, unless that was done before.
  void add(size_t column, Context& context);
  const Lanes& lanes() const { return lanes_; }
  // kNone: the column was not copied.
  size_t place(size_t column) const { return place_[column]; }
  const std::uint8_t* bins(size_t column) const { return lanes_.groups[place_[column]]; }
  // Bins of some rows, given in ascending order; from the copy if there is one.
  void gather(size_t column, std::span<const Row> rows, std::uint8_t* out) const;

 private:
  const BinnedMatrix& X_;
  Lanes lanes_;
  std::vector<std::unique_ptr<std::uint8_t[]>> memory_;
  std::vector<size_t> place_;
};

}  // namespace frugal
