// Thresholds between the bins of every column, found in one pass over the table, which may come whole or in batches of
// rows.
#pragma once

#include <vector>

#include "data/sparse.hpp"
#include "data/summary.hpp"
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

// Finds thresholds from batches of rows of any size and in any order: for all columns of a table, or for some columns
// from `first` on.
class ThresholdFinder {
 public:
  ThresholdFinder(size_t columns, size_t most_cells, size_t first = 0)
      : first_(first), summaries_(columns, Summary(most_cells)) {}

  // `units`: the weight of each row; nullptr: all are 1.
  void add(const Table& rows, const std::int64_t* units, Context& context);
  void add(const SparseTable& rows, const std::int64_t* units, Context& context);

  // Adds what other parts of the table have added.
  void add_parts(Together& together);

  size_t columns() const { return summaries_.size(); }
  void append_to(Thresholds& out, size_t max_bins, Context& context) const;

 private:
  size_t first_;
  std::vector<Summary> summaries_;
};

// Thresholds of a table in memory: some columns at a time, because the summaries of all columns together are larger
// than the table.
template <class AnyTable>
Thresholds thresholds_of(const AnyTable& table, const std::int64_t* units, size_t max_bins, size_t most_cells,
                         Context& context);

}  // namespace frugal
