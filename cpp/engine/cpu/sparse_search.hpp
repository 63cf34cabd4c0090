// Best splits on sparse columns: one pass over the listed rows of a column sums the histograms of all nodes of a level.
#pragma once

#include <vector>

#include "data/binning.hpp"
#include "engine/cpu/gradients.hpp"
#include "engine/cpu/partition.hpp"

namespace frugal {

class SparseSearch {
 public:
  SparseSearch(const BinnedMatrix& X, const TableFacts& table, const Weights& weights, double min_weight)
      : X_(X), table_(table), weights_(weights), min_weight_(min_weight) {}

  // Sums over the listed rows of some columns.
  std::vector<ListedSums> listed(std::span<const size_t> columns, const GridGradients& gradients,
                                 Context& context) const;

  // Best splits of some columns at the nodes in `wanted`: splits[i * nodes + node] for columns[i].
  void search(std::span<const size_t> columns, std::span<const OpenNode> nodes, std::span<const std::uint8_t> wanted,
              const RowPartition& partition, AllGradients gradients, std::span<ColumnSplit> splits, Context& context);

 private:
  // The node of a row, if it is in one that is wanted, and its gradient.
  struct Placed {
    std::uint32_t node = kNoNode;
    std::int32_t q = 0;
  };
  static constexpr std::uint32_t kNoNode = 0xFFFFFFFF;
  // The nodes of one output, and where their splits go: the splits of column i begin at splits + i * step.
  struct OfOutput {
    std::span<const OpenNode> nodes;
    std::span<const std::uint8_t> wanted;
    std::vector<double> factors;  // from squared grid units to gain
    ColumnSplit* splits;
    size_t step;
    bool packed;  // cells of one word
  };

  // What a search needs of a column, looked up once for all nodes.
  struct Column {
    const ColumnFacts& facts;
    BinnedMatrix::SparseColumn listed;
    size_t words;  // of a node's histogram
  };

  Column column_of(const OfOutput& own, size_t column) const {
    const ColumnFacts& facts = table_.columns[column];
    return {facts, listed_rows(column), (own.packed ? 1 : 2) * facts.cells()};
  }
  BinnedMatrix::SparseColumn listed_rows(size_t column) const { return X_.listed(X_.place(column)); }
  void place(const OfOutput& own, const RowPartition& partition, const GridGradients& gradients, Context& context);
  void search_output(std::span<const size_t> columns, const OfOutput& own, Context& context) const;
  void search_in_parts(std::span<const size_t> columns, const OfOutput& own, Context& context) const;
  void add_up(const OfOutput& own, const Column& column, size_t first, size_t count, std::int64_t* cells) const;
  template <bool Packed>
  void add_rows(const BinnedMatrix::SparseColumn& column, size_t first, size_t count, size_t words,
                std::int64_t* cells) const;
  void find_best(const OfOutput& own, const Column& column, size_t first, size_t count, std::int64_t* cells,
                 ColumnSplit* splits) const;
  template <bool Packed>
  ColumnSplit best_of(const OpenNode& node, const Column& column, double factor, std::int64_t* cells) const;

  const BinnedMatrix& X_;
  const TableFacts& table_;
  const Weights& weights_;
  double min_weight_;
  std::vector<Placed> placed_;
};

}  // namespace frugal
