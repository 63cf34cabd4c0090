// The columns of a table as searches need them, beside the table itself: owned ones packed side by side, as histograms
// need them at every node of every tree; single ones by themselves, as the rows of a node are parted by one of them;
// and those offered in this iteration.
#pragma once

#include <memory>

#include "data/binning.hpp"
#include "data/lanes.hpp"
#include "support/threads.hpp"

namespace frugal {

// Columns side by side, eight to a group.
class PackedColumns {
 public:
  explicit PackedColumns(const BinnedMatrix& X) : X_(X) { lanes_.rows = X.rows(); }
  // These and no others.
  void set(std::span<const size_t> columns, Context& context);
  // One more, from a copy of its bins.
  void add(size_t column, const std::uint8_t* bins, Context& context);
  const Lanes& lanes() const { return lanes_; }

 private:
  const BinnedMatrix& X_;
  Lanes lanes_;
  std::vector<std::unique_ptr<std::uint8_t[]>> memory_;  // of each group that was ever needed
};

// Columns by themselves.
class SingleColumns {
 public:
  explicit SingleColumns(const BinnedMatrix& X) : X_(X), place_(X.columns(), kNone) {
    lanes_.rows = X.rows();
    lanes_.in_group = 1;
  }
  // Copies a column out, if nobody did before.
  void add(size_t column, Context& context);
  const Lanes& lanes() const { return lanes_; }
  // kNone: the column was not copied.
  size_t place(size_t column) const { return place_[column]; }
  const std::uint8_t* bins(size_t column) const { return lanes_.groups[place_[column]]; }
  // Bins of some rows, given in ascending order; from the copy, where there is one.
  void gather(size_t column, std::span<const Row> rows, std::uint8_t* out) const;

 private:
  const BinnedMatrix& X_;
  Lanes lanes_;
  std::vector<std::unique_ptr<std::uint8_t[]>> memory_;
  std::vector<size_t> place_;
};

}  // namespace frugal
