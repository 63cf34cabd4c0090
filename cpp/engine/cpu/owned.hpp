// The columns that are owned, twice: packed side by side, as histograms need them at every node of every tree, and each
// by itself, as the rows of a node are parted by one of them.
#pragma once

#include <memory>

#include "data/binning.hpp"
#include "data/lanes.hpp"

namespace frugal {

class OwnedColumns {
 public:
  explicit OwnedColumns(const BinnedMatrix& X) : X_(X), flat_place_(X.columns(), -1) {
    lanes_.rows = flats_.rows = X.rows();
    flats_.in_group = 1;
  }

  // Copies a column out, if nobody did before: it may be worth it for one that is not owned.
  void flatten(size_t column, Context& context);
  // And into the next free lane.
  void add(size_t column, Context& context);
  const Lanes& lanes() const { return lanes_; }
  const Lanes& flats() const { return flats_; }
  // Place among those; -1: the column was not copied.
  std::int32_t flat_place(size_t column) const { return flat_place_[column]; }

 private:
  const BinnedMatrix& X_;
  Lanes lanes_, flats_;
  std::vector<std::unique_ptr<std::uint8_t[]>> memory_, flat_memory_;
  std::vector<std::int32_t> flat_place_;
};

}  // namespace frugal
