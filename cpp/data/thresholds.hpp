// Thresholds between the bins of every column.
#pragma once

#include <vector>

#include "data/row_levels.hpp"
#include "data/sparse.hpp"
#include "data/table.hpp"
#include "support/threads.hpp"
#include "support/types.hpp"

namespace frugal {

// For every column the thresholds between its bins, ascending. A value v is in the first bin b with v <= thresholds[b],
// or else in the last bin. The values of a categorical column are the numbers of its bins, and have no order.
struct Thresholds {
  std::vector<double> cuts;        // of all columns, one column after another
  std::vector<size_t> offsets{0};  // where each column begins in `cuts`, and the end
  std::vector<std::uint8_t> categorical;
  // What lines are drawn on (scores.hpp): the scores of all bins of values, one column after another; empty without
  // lines. A column has one more bin than thresholds, so it begins at its offset plus its number.
  std::vector<std::int16_t> scores;

  size_t columns() const { return categorical.size(); }
  std::span<const double> of(size_t column) const {
    return std::span(cuts).subspan(offsets[column], offsets[column + 1] - offsets[column]);
  }
  std::span<const std::int16_t> scores_of(size_t column) const {
    return std::span(scores).subspan(offsets[column] + column, offsets[column + 1] - offsets[column] + 1);
  }
  void add(std::span<const double> column, bool is_categorical);
  Thresholds take(std::span<const size_t> chosen) const;
};

// Thresholds of a table in memory: some columns at a time, because the values of all columns together would be a copy
// of the table. `units`: the weight of each row; nullptr: all are 1. `most_cells`: of a column's summary.
Thresholds thresholds_of(const Table& table, const std::int64_t* units, size_t max_bins, size_t most_cells,
                         SampleRule rule, Context& context);
Thresholds thresholds_of(const SparseTable& table, const std::int64_t* units, size_t max_bins, size_t most_cells,
                         SampleRule rule, Context& context);

}  // namespace frugal
