// Lines on the CPU: sums over rows of gradients and curvatures times the scores of columns. All sums are of whole
// numbers, so they depend neither on order nor on threads.
#pragma once

#include <array>
#include <vector>

#include "engine/cpu/drawn_rows.hpp"
#include "engine/cpu/gradients.hpp"
#include "loss/losses.hpp"

namespace frugal {

class ScoredColumns {
 public:
  // Both must outlive it.
  ScoredColumns(const BinnedMatrix& X, DrawnRows& drawn) : X_(X), drawn_(drawn) {}

  std::vector<ScoreSums> sums(std::span<const size_t> columns, Context& context);
  std::vector<Int128> gradients(std::span<const size_t> columns, const GridGradients& gradients, Context& context);
  LineSums line(size_t column, const Derivatives& d, Context& context);
  double quantile(size_t column, std::span<const double> y, const double* raw, double intercept, double level,
                  Context& context);
  std::vector<double> curvatures(std::span<const size_t> columns, const Derivatives& d, Context& context);

  // Adds value + slope * score to the raw predictions of the rows of another table in the same bins.
  void add(size_t column, double value, double slope, const BinnedMatrix& rows, double* raw, Context& context);

 private:
  // Columns of one group of the binned matrix, and where their sums go.
  struct Group {
    size_t number, size = 0;
    std::array<size_t, kLanes> lanes, places;
  };
  std::vector<Group> groups_of(std::span<const size_t> columns) const;
  // Sums of rows [begin, end) of a group, lane by lane.
  void add_rows(const Group& group, size_t begin, size_t end, const std::int32_t* q, Int128* out) const;
  Int128 of_listed(size_t column, const GridGradients& gradients) const;
  // The scores of all bins of a column; that of missing values, the last one, is zero.
  const std::int16_t* table(size_t column) const {
    return tables_.data() + X_.thresholds().offsets[column] + 2 * column;
  }
  void prepare();

  const BinnedMatrix& X_;
  DrawnRows& drawn_;
  const Weights* weights_ = nullptr;  // of the rows that are drawn now
  std::vector<std::int16_t> tables_;
};

}  // namespace frugal
