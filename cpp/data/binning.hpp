// Binning: a second pass over the table replaces every value by the number of its bin. The table may come whole or in
// batches of rows.
#pragma once

#include <memory>
#include <vector>

#include "data/lanes.hpp"
#include "data/thresholds.hpp"
#include "support/bin_search.hpp"
#include "support/fixed_point.hpp"
#include "support/threads.hpp"
#include "support/types.hpp"

namespace frugal {

// The table in bins of one byte. Dense columns are stored in groups of eight (lanes.hpp). Of sparse columns only the
// rows that are not in the column's usual bin are listed.
class BinnedMatrix : public Source {
 public:
  using Bytes = std::shared_ptr<std::uint8_t[]>;

  // All columns are dense and wait to be filled. `memory`, if given, holds bytes_needed(rows, columns) zeros.
  BinnedMatrix(size_t rows, Thresholds thresholds, Bytes memory = nullptr);
  BinnedMatrix(const SparseTable& table, Thresholds thresholds, Context& context);
  // Some columns and some rows of another matrix, in the order given; the same as binning that part of the table.
  BinnedMatrix(const BinnedMatrix& whole, std::span<const size_t> columns, std::span<const Row> rows, Context& context);

  static size_t bytes_needed(size_t rows, size_t columns) { return (columns + kLanes - 1) / kLanes * kLanes * rows; }

  // Row i of a batch becomes row places[i]; rows with a negative place are left out. Call `list_sparse` after the last
  // batch.
  void fill(const Table& batch, std::span<const std::int64_t> places, Context& context);

  // Makes columns sparse in which nearly all rows have the same bin, and closes the gaps that they leave.
  void list_sparse(Context& context);

  // One score for each bin of values of each column (scores.hpp).
  void set_scores(std::vector<std::int16_t> scores);

  size_t rows() const override { return rows_; }
  size_t columns() const override { return place_.size(); }
  // Reads a number that stands for the row's bin: it is on the same side of all thresholds as the value was.
  void read(size_t column, size_t begin, size_t end, double* out) const override;

  const Thresholds& thresholds() const { return thresholds_; }
  bool categorical(size_t column) const { return thresholds_.categorical[column]; }
  // The number of bins of values. Missing values are in the bin of that number, after them.
  Bin value_bins(size_t column) const { return narrow<Bin>(thresholds_.of(column).size() + 1); }
  bool has_missing(size_t column) const { return has_missing_[column]; }

  // Bins of some rows, given in ascending order.
  void gather(size_t column, std::span<const Row> rows, std::uint8_t* out) const;
  std::uint8_t bin(size_t column, size_t row) const;
  // Bins of rows [begin, end), `step` bytes apart.
  void copy(size_t column, size_t begin, size_t end, std::uint8_t* out, size_t step) const;

  // A column's place among the dense columns, or its number among the sparse ones.
  bool is_sparse(size_t column) const { return is_sparse_[column]; }
  size_t place(size_t column) const { return place_[column]; }

  // Dense columns, by their place in the groups.
  size_t dense() const { return dense_.size(); }
  size_t dense_column(size_t place) const { return dense_[place]; }
  size_t groups() const { return (dense() + kLanes - 1) / kLanes; }
  Lanes lanes() const;

  // Sparse columns, by their number: the rows that are not in `usual_bin`, ascending, and their bins.
  struct SparseColumn {
    std::span<const Row> rows;
    const std::uint8_t* bins;
    std::uint8_t usual_bin;  // the bin of all other rows
  };
  size_t sparse() const { return sparse_.size(); }
  size_t sparse_column(size_t number) const { return sparse_[number]; }
  SparseColumn listed(size_t number) const;

  std::span<const std::uint8_t> bytes() const { return {bins_.get(), groups() * kLanes * rows_}; }
  std::span<const Row> listed_rows() const { return listed_rows_; }
  std::span<const std::uint8_t> listed_bins() const { return listed_bins_; }

 private:
  static constexpr Bin kNoUsualBin = 0xFFFF;
  // For each column the bin that nearly all rows of the table have, and how many rows of this part are in another one.
  struct UsualBins {
    explicit UsualBins(size_t columns) : bin(columns, kNoUsualBin), others(columns) {}
    std::vector<Bin> bin;
    std::vector<size_t> others;
  };

  struct RowsToFill;
  void fill_group(const Table& batch, size_t first, size_t last, const RowsToFill& rows, const CutTree* trees,
                  std::uint8_t* missing);
  void lay_out(std::vector<std::uint8_t> is_sparse);
  void fold(Context& context);
  bool foldable(size_t group) const;
  UsualBins usual_in_parts(Context& context) const;
  UsualBins usual_alone(Context& context) const;
  void append_listed(const std::uint8_t* bins, std::uint8_t usual_bin);
  void take_sparse(const BinnedMatrix& whole, std::span<const size_t> columns, std::span<const Row> rows);
  void allocate(Bytes memory);
  void shrink(size_t had);
  SparseColumn listed_of(size_t column) const { return listed(place_[column]); }
  std::uint8_t* dense_at(size_t column) const {
    const size_t p = place_[column];
    return bins_.get() + (p / kLanes) * kLanes * rows_ + p % kLanes;
  }

  size_t rows_;
  Thresholds thresholds_;
  std::vector<std::uint8_t> is_sparse_;
  std::vector<size_t> place_;           // of each column
  std::vector<size_t> dense_, sparse_;  // columns, by place and by number
  std::vector<std::uint8_t> has_missing_;
  Bytes bins_;
  bool borrowed_ = false;      // Python owns the memory
  std::vector<Bytes> folded_;  // by group; see Lanes
  std::vector<size_t> listed_begin_{0};
  std::vector<Row> listed_rows_;
  std::vector<std::uint8_t> listed_bins_, usual_bin_;
};

}  // namespace frugal
