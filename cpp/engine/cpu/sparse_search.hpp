// Best splits on sparse columns: one pass over what is listed of a column sums all nodes of a level at once.
#pragma once

#include <vector>

#include "data/binning.hpp"
#include "engine/cpu/partition.hpp"
#include "loss/gradients.hpp"

namespace frugal {

class SparseSearch {
 public:
  SparseSearch(const BinnedMatrix& X, const Weights& weights, double min_weight);

  // Columns in which enough rows differ from the rest for a split, by their number among the sparse ones.
  const std::vector<size_t>& worth_searching() const { return worth_searching_; }

  // Sums over what is listed of a column: sum of weight, and of weight * gradient^2, with the gradients of this tree.
  struct Listed {
    double weight = 0.0, squares = 0.0;
  };
  void measure(std::span<const size_t> numbers, AllGradients gradients, Context& context);
  const Listed& listed(int output, size_t number) const { return measured_[static_cast<size_t>(output)][number]; }

  // Splits of some columns (numbers among the sparse ones): splits[i * slots + slot] for columns[i]. `nodes` has
  // nullptr at slots that are not wanted.
  void search(std::span<const size_t> columns, const std::vector<const OpenNode*>& nodes, const RowPartition& partition,
              AllGradients gradients, std::span<ColumnSplit> splits, Context& context);

 private:
  // The node of a row, if any, and its gradient.
  struct Placed {
    std::int32_t slot = -1, q = 0;
  };

  // Splits of each column in turn, so many apart.
  struct Strided {
    ColumnSplit* first;
    size_t step;
  };
  void search_output(std::span<const size_t> columns, std::span<const OpenNode* const> nodes,
                     const RowPartition& partition, const GridGradients& gradients, Strided splits, Context& context);
  Listed listed_sums(std::span<const Row> rows, const GridGradients& gradients) const;
  void measure_output(std::span<const size_t> numbers, const GridGradients& gradients, std::vector<Listed>& out,
                      Context& context) const;
  template <bool Packed>
  void add_up(const BinnedMatrix::SparseColumn& column, size_t first, size_t count, size_t words,
              std::int64_t* cells) const;
  template <bool Packed>
  ColumnSplit best_of(const OpenNode& node, size_t c, std::uint8_t usual_bin, double factor, std::int64_t* cells) const;
  template <bool Packed>
  void search_column(size_t number, std::span<const OpenNode* const> nodes, std::span<const double> factors,
                     ColumnSplit* splits, std::vector<std::int64_t>& cells) const;

  const BinnedMatrix& X_;
  const Weights& weights_;
  double min_weight_;
  std::vector<size_t> worth_searching_;
  std::vector<Placed> placed_;
  std::vector<std::vector<Listed>> measured_;  // by output
};

}  // namespace frugal
