// From numbers to small integers: thresholds first (one pass), then bins (a second pass).
#pragma once

#include <vector>

#include "fixed_point.hpp"
#include "table.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace frugal {

// For every column the thresholds between its bins, ascending. A value v lies in the first bin b with
// v <= thresholds[b], or in the last bin. Columns lie one after another; offsets has one entry more.
struct Thresholds {
  std::vector<double> cuts;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::uint8_t> has_missing;

  size_t columns() const { return has_missing.size(); }
  std::span<const double> of(size_t column) const {
    return std::span(cuts).subspan(offsets[column], offsets[column + 1] - offsets[column]);
  }
  Thresholds take(std::span<const std::int64_t> chosen) const;
};

// One bin for each value where at most `max_bins` are seen, else bins of about equal weight.
Thresholds find_thresholds(const Table& table, const Weights& weights, int max_bins, Context& context);

// The table in bins of one byte. Eight columns lie side by side, row after row, so that one 64-bit load
// brings eight bins of a row, and their eight histograms stay in the first-level cache together.
class BinnedMatrix {
 public:
  static constexpr int kLanes = 8;

  BinnedMatrix(const Table& table, const Thresholds& thresholds, Context& context);
  // Some columns and some rows of another matrix, in the order given; the same as binning that part of the table.
  BinnedMatrix(const BinnedMatrix& whole, std::span<const std::int64_t> columns, std::span<const std::int64_t> rows,
               Context& context);

  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  size_t groups() const { return (columns_ + kLanes - 1) / kLanes; }
  int lanes(size_t group) const { return static_cast<int>(std::min<size_t>(kLanes, columns_ - group * kLanes)); }

  // Bins of values; missing values have the bin of that number.
  int value_bins(size_t column) const { return value_bins_[column]; }
  bool has_missing(size_t column) const { return has_missing_[column]; }
  // Cells of a histogram: value bins and, where these rows have missing values, one more.
  int cells(size_t column) const { return value_bins_[column] + has_missing_[column]; }

  const std::uint8_t* group(size_t g) const { return bins_.data() + g * kLanes * rows_; }
  // The bins of one column, kLanes bytes from row to row.
  const std::uint8_t* column(size_t c) const { return group(c / kLanes) + c % kLanes; }

  const std::vector<std::uint8_t>& bytes() const { return bins_; }

 private:
  size_t rows_, columns_;
  std::vector<std::uint8_t> bins_;
  std::vector<int> value_bins_;
  std::vector<std::uint8_t> has_missing_;
};

}  // namespace frugal
