// From values to small integers: thresholds first (one pass), then bins (a second pass). A table may come whole or in
// batches of rows.
#pragma once

#include <memory>
#include <vector>

#include "data/lanes.hpp"
#include "data/sparse.hpp"
#include "data/summary.hpp"
#include "data/table.hpp"
#include "support/fixed_point.hpp"
#include "support/threads.hpp"
#include "support/types.hpp"

namespace frugal {

// For every column the thresholds between its bins, ascending. A value v lies in the first bin b with
// v <= thresholds[b], or in the last bin. Columns lie one after another; offsets has one entry more.
// The values of a categorical column are the numbers of its bins, and have no order.
struct Thresholds {
  std::vector<double> cuts;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::uint8_t> categorical;

  size_t columns() const { return categorical.size(); }
  std::span<const double> of(size_t column) const {
    return std::span(cuts).subspan(offsets[column], offsets[column + 1] - offsets[column]);
  }
  void add(std::span<const double> column, bool is_categorical);
  Thresholds take(std::span<const std::int64_t> chosen) const;
};

// Finds thresholds from batches of rows, whatever their order and sizes: for all columns, or for some from `first` on.
class ThresholdFinder {
 public:
  ThresholdFinder(size_t columns, size_t most_cells, size_t first = 0)
      : first_(first), summaries_(columns, Summary(most_cells)) {}

  // `units`: the weight of each row, nullptr: all 1.
  void add(const Table& rows, const std::int64_t* units, Context& context);
  void add(const SparseTable& rows, const std::int64_t* units, Context& context);

  // Takes over what other parts of the table have added.
  void add_parts(Together& together);

  size_t columns() const { return summaries_.size(); }
  void append_to(Thresholds& out, int max_bins, Context& context) const;

 private:
  size_t first_;
  std::vector<Summary> summaries_;
};

// Thresholds of a table that lies in memory whole: some columns at a time, because what is known of all columns at once
// is larger than the table.
template <class AnyTable>
Thresholds thresholds_of(const AnyTable& table, const std::int64_t* units, int max_bins, size_t most_cells,
                         Context& context);

// The table in bins of one byte. Eight dense columns lie side by side, row after row, so that one 64-bit load brings
// eight bins of a row, and their eight histograms stay in the first-level cache together. Of sparse columns only the
// rows whose bin is not that of zero are listed.
class BinnedMatrix : public Source {
 public:
  using Bytes = std::shared_ptr<std::uint8_t[]>;

  // All columns dense and nothing filled in yet. `memory`, where given, holds bytes_needed(rows, columns) zeros.
  BinnedMatrix(size_t rows, Thresholds thresholds, Bytes memory = nullptr);
  BinnedMatrix(const SparseTable& table, Thresholds thresholds, Context& context);
  // Some columns and some rows of another matrix, in the order given; the same as binning that part of the table.
  BinnedMatrix(const BinnedMatrix& whole, std::span<const std::int64_t> columns, std::span<const std::int64_t> rows,
               Context& context);

  static size_t bytes_needed(size_t rows, size_t columns) { return (columns + kLanes - 1) / kLanes * kLanes * rows; }

  // Row i of a batch becomes row places[i]; negative: it is left out. After the last batch comes `list_sparse`.
  void fill(const Table& batch, std::span<const std::int64_t> places, Context& context);

  // Lists the columns in which nearly all rows have the same bin, and closes the gaps they leave.
  void list_sparse(Context& context);

  size_t rows() const override { return rows_; }
  size_t columns() const override { return place_.size(); }
  // A number in the row's bin: all thresholds are the same side of it as of the value that was binned.
  void read(size_t column, size_t begin, size_t end, double* out) const override;

  const Thresholds& thresholds() const { return thresholds_; }
  bool categorical(size_t column) const { return thresholds_.categorical[column]; }
  // Bins of values; missing values have the bin of that number.
  int value_bins(size_t column) const { return static_cast<int>(thresholds_.of(column).size()) + 1; }
  bool has_missing(size_t column) const { return has_missing_[column]; }
  // Cells of a histogram: value bins and, where these rows have missing values, one more.
  int cells(size_t column) const { return value_bins(column) + has_missing_[column]; }

  // Bins of some rows, given in ascending order.
  void gather(size_t column, std::span<const Row> rows, std::uint8_t* out) const;
  int bin(size_t column, size_t row) const;
  // Bins of rows [begin, end), `step` bytes apart.
  void copy(size_t column, size_t begin, size_t end, std::uint8_t* out, size_t step) const;

  // Where a column is kept: its place among the dense ones, or ~number among the sparse ones.
  std::int32_t place(size_t column) const { return place_[column]; }

  // Dense columns, by their place in the groups.
  size_t dense() const { return dense_.size(); }
  size_t dense_column(size_t place) const { return dense_[place]; }
  size_t groups() const { return (dense() + kLanes - 1) / kLanes; }
  Lanes lanes() const;

  // Sparse columns, by their number among them: rows whose bin is not `usual_bin`, ascending, and their bins.
  struct SparseColumn {
    std::span<const Row> rows;
    const std::uint8_t* bins;
    std::uint8_t usual_bin;  // of all other rows
  };
  size_t sparse() const { return sparse_.size(); }
  size_t sparse_column(size_t number) const { return sparse_[number]; }
  SparseColumn listed(size_t number) const;

  std::span<const std::uint8_t> bytes() const { return {bins_.get(), groups() * kLanes * rows_}; }
  std::span<const Row> listed_rows() const { return listed_rows_; }
  std::span<const std::uint8_t> listed_bins() const { return listed_bins_; }

 private:
  void lay_out(const std::vector<bool>& is_sparse);
  void fold(Context& context);
  std::vector<int> usual_in_parts(Context& context) const;
  std::vector<int> usual_alone(Context& context) const;
  // A column of two bins is kept sparse where at most one row in so many differs from the rest.
  size_t two_valued_share() const;
  void allocate(Bytes memory);
  void shrink(size_t had);
  std::uint8_t* dense_at(size_t column) const {
    const auto p = static_cast<size_t>(place_[column]);
    return bins_.get() + (p / kLanes) * kLanes * rows_ + p % kLanes;
  }

  size_t rows_;
  Thresholds thresholds_;
  std::vector<std::int32_t> place_;
  std::vector<size_t> dense_, sparse_;
  std::vector<std::uint8_t> has_missing_;
  Bytes bins_;
  bool borrowed_ = false;      // the memory is somebody else's
  std::vector<Bytes> folded_;  // by group; see Lanes
  std::vector<std::int64_t> listed_begin_{0};
  std::vector<Row> listed_rows_;
  std::vector<std::uint8_t> listed_bins_, usual_bin_;
};

}  // namespace frugal
