// Finds thresholds from batches of rows of any size and in any order, or from parts of a table.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "data/few_values.hpp"
#include "data/row_levels.hpp"
#include "data/summary.hpp"
#include "data/thresholds.hpp"

namespace frugal {

// What thresholds of one column are found from.
struct ColumnSummary {
  Summary summary;
  // If the summary is of a sample: the distinct values of all rows. If they are few, each has a bin.
  std::optional<FewValues> few;

  std::vector<double> cuts(size_t max_bins) const;
};

// Values of a column that are neither missing nor zero, and what its zeros weigh.
struct ColumnValues {
  std::vector<double> values;
  std::vector<std::int64_t> units;  // empty if all are 1
  std::int64_t zeros = 0;

  void add(double value, std::int64_t unit, bool weighted);
  void add_to(Summary& summary, Summary::Spare& spare) const;
};

// Values of a column by the level of their row, as long as they may be needed.
class LevelledColumn {
 public:
  void add(size_t level, double value, std::int64_t unit, bool weighted) {
    if (level >= least_) levels_[level].add(value, unit, weighted);
  }
  void add_zeros(size_t level, std::int64_t mass) { levels_[level].zeros += mass; }
  std::array<size_t, kRowLevels> listed() const;
  void forget_below(size_t level);
  Summary from(size_t level, size_t most_cells, Summary::Spare& spare) const;

  FewValues few;

 private:
  size_t least_ = 0;
  std::array<ColumnValues, kRowLevels> levels_;
};

class ThresholdFinder {
 public:
  // `rows`: of the whole table, 0 if that is not known yet. Some columns of each batch from `first` on.
  ThresholdFinder(size_t columns, size_t most_cells, SampleRule rule, size_t rows, size_t first = 0)
      : first_(first), most_cells_(most_cells), rule_(rule), known_rows_(rows), columns_(columns) {}

  // The highest level that rows must be told apart by.
  size_t highest_level() const { return known_rows_ > 0 ? rule_.level(known_rows_) : kRowLevels - 1; }

  // `units`: the weight of each row; nullptr: all are 1.
  void add(const Table& rows, const RowLevels& levels, const std::int64_t* units, Context& context);
  void add(const SparseTable& rows, const RowLevels& levels, const std::int64_t* units, Context& context);

  // Adds what other parts of the table have added.
  void add_parts(Together& together);

  size_t columns() const { return columns_.size(); }
  void append_to(Thresholds& out, size_t max_bins, Context& context) const;

 private:
  size_t rows() const { return known_rows_ > 0 ? known_rows_ : seen_; }
  bool sampled() const { return highest_level() > 0; }
  void forget(LevelledColumn& column) const;
  ColumnSummary summary_of(size_t column, size_t level, Summary::Spare& spare) const;

  size_t first_, most_cells_;
  SampleRule rule_;
  size_t known_rows_, seen_ = 0;
  std::vector<LevelledColumn> columns_;
  std::vector<ColumnSummary> of_parts_;  // once other parts were added
};

}  // namespace frugal
