// The columns that are owned, packed side by side: they are needed at every node of every tree.
#pragma once

#include <memory>

#include "binning.hpp"
#include "lanes.hpp"

namespace frugal {

class OwnedColumns {
 public:
  explicit OwnedColumns(const BinnedMatrix& X) : X_(X) { lanes_.rows = X.rows(); }

  // Copies a column into the next free lane.
  void add(size_t column, Context& context);
  const Lanes& lanes() const { return lanes_; }

 private:
  const BinnedMatrix& X_;
  Lanes lanes_;
  std::vector<std::unique_ptr<std::uint8_t[]>> memory_;
};

}  // namespace frugal
