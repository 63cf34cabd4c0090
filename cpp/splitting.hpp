// The search: for every node of a level and every column, the best split by raw gain.
//
// It knows nothing of prices. A backend on another device is another way to answer the same question.
#pragma once

#include <vector>

#include "gradients.hpp"
#include "histogram.hpp"
#include "kernels.hpp"
#include "levels.hpp"
#include "partition.hpp"

namespace frugal {

// Two nodes of one parent, or the root alone (then `large` has no rows).
struct Siblings {
  OpenNode small, large;                           // by number of rows
  int small_slot, large_slot;                      // where their splits go in the level; -1: the node can't be split
  int parent_histogram = -1;                       // kept from the level above; -1: none
  int small_histogram = -1, large_histogram = -1;  // filled in by the search
};

class SplitSearch {
 public:
  SplitSearch(const BinnedMatrix& X, const Weights& weights, double min_samples_leaf);

  // Fills splits[slot * columns + column] for every slot named in `level`. `deeper`: keep the histograms, the
  // children will be searched too.
  void search(std::span<Siblings> level, bool deeper, const RowPartition& partition, const GridGradients& gradients,
              std::span<ColumnSplit> splits, Context& context);

  // A node's rows on a categorical column, in the order of the split search.
  LevelGroups levels_of(const OpenNode& node, size_t column, const RowPartition& partition,
                        const GridGradients& gradients) const;

  bool can_split(const OpenNode& node) const { return static_cast<double>(node.weight) >= 2.0 * min_weight_; }

 private:
  // One node whose histogram is summed from rows. Large nodes of narrow tables are cut into parts, so that
  // all threads have work.
  struct Build {
    NodeRows rows;
    size_t parts = 1;
    size_t at = 0;  // where its parts lie
  };
  struct Task {
    Siblings* pair;
    Build small, large;  // count 0: not summed from rows
  };

  void keep_histograms(std::span<Siblings> level, bool deeper);
  int take_histogram();
  std::int64_t* histogram(int slot, size_t group) {
    return pool_[static_cast<size_t>(slot)].data() + layout_.group_begin(group);
  }

  NodeRows in_order(const OpenNode& node, const RowPartition& partition, const GridGradients& gradients,
                    Context& context);
  void build_in_parts(std::vector<Task>& tasks, Context& context);
  void build(const Build& build, size_t group, std::int64_t* cells, std::int64_t* scratch) const;
  void finish(const Task& task, size_t group, const GridGradients& gradients, std::span<ColumnSplit> splits,
              std::int64_t* scratch);
  void scan(const OpenNode& node, size_t group, const std::int64_t* cells, const GridGradients& gradients,
            ColumnSplit* out) const;
  ScanResult scan_levels(const ScanTask& column) const;

  void search_sparse(std::span<const Siblings> level, const RowPartition& partition, const GridGradients& gradients,
                     std::span<ColumnSplit> splits, Context& context);
  void search_sparse_column(size_t number, const std::vector<const OpenNode*>& nodes, const GridGradients& gradients,
                            std::span<ColumnSplit> splits, std::vector<std::int64_t>& cells) const;

  const BinnedMatrix& X_;
  const Weights& weights_;
  double min_weight_;
  Histograms layout_;
  std::vector<AlignedWords> pool_;
  std::vector<std::uint8_t> taken_;
  std::vector<AlignedWords> scratch_;  // for each thread, three times a group's cells
  AlignedWords parts_;
  std::vector<size_t> worth_searching_;  // sparse columns in which enough rows differ from the rest
  std::vector<std::int32_t> slot_of_row_;
  std::vector<std::int32_t> ordered_q_;
  std::vector<std::int64_t> ordered_units_;
};

}  // namespace frugal
