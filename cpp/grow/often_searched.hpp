// Counts how often columns could not be ruled out: columns that are searched often are kept in a faster layout.
#pragma once

#include <cmath>
#include <vector>

#include "support/limits.hpp"
#include "support/types.hpp"

namespace frugal {

class OftenSearched {
 public:
  OftenSearched(size_t columns, double table_rows) : columns_(columns), table_rows_(table_rows) {}

  void begin_trees() {
    ++iterations_;
    costly_.clear();
    frequent_.clear();
  }

  // A column was searched at a node with this many rows. Updates its cost, a moving average in tables per iteration.
  void note(size_t column, std::int64_t rows) {
    Cost& own = columns_[column];
    own.tables *= static_cast<float>(std::pow(kWatchMemory, real(iterations_ - own.iteration)));
    own.iteration = iterations_;
    own.tables += static_cast<float>((1.0 - kWatchMemory) * real(rows) / table_rows_);
    if (own.tables > kWatchCost) costly_.push_back(column);
    if (own.tables > kFlatCost) frequent_.push_back(column);
  }

  // Columns that should be packed with the owned ones, and columns that should be copied. Some are listed repeatedly.
  const std::vector<size_t>& costly() const { return costly_; }
  const std::vector<size_t>& frequent() const { return frequent_; }

 private:
  struct Cost {
    float tables = 0;
    std::uint32_t iteration = 0;  // when it was last searched
  };
  std::vector<Cost> columns_;
  double table_rows_;  // times the number of trees in an iteration
  std::uint32_t iterations_ = 0;
  std::vector<size_t> costly_, frequent_;
};

}  // namespace frugal
