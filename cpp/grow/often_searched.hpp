// Columns that can't be ruled out again and again: it is cheaper to keep them at hand.
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

  // A column had to be searched: what it costs lately, in tables a tree.
  void note(size_t column, std::int64_t rows) {
    Cost& own = columns_[column];
    own.tables *= static_cast<float>(std::pow(kWatchMemory, static_cast<double>(iterations_ - own.iteration)));
    own.iteration = iterations_;
    own.tables += static_cast<float>((1.0 - kWatchMemory) * static_cast<double>(rows) / table_rows_);
    if (own.tables > kWatchCost) costly_.push_back(column);
    if (own.tables > kFlatCost) frequent_.push_back(column);
  }

  // Columns that are better searched at every node with the owned ones, and those that are better kept by themselves.
  // Some come more than once.
  const std::vector<size_t>& costly() const { return costly_; }
  const std::vector<size_t>& frequent() const { return frequent_; }

 private:
  struct Cost {
    float tables = 0;
    std::uint32_t iteration = 0;  // when it was last searched
  };
  std::vector<Cost> columns_;
  double table_rows_;  // of all outputs
  std::uint32_t iterations_ = 0;
  std::vector<size_t> costly_, frequent_;
};

}  // namespace frugal
