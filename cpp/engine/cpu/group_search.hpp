// Best splits on dense columns, from histograms: for every node of a level, the best split of every column by raw gain.
#pragma once

#include <memory>
#include <vector>

#include "data/levels.hpp"
#include "engine/cpu/histogram.hpp"
#include "engine/cpu/ordered_rows.hpp"
#include "support/kernels.hpp"

namespace frugal {

class GroupSearch {
 public:
  GroupSearch(const TableFacts& table, const Weights& weights, double min_weight)
      : table_(table), weights_(weights), min_weight_(min_weight) {}

  // The columns to search from now on; histograms of others are forgotten.
  void use(const Lanes& lanes);
  size_t places() const { return layout_->lanes().places(); }
  size_t column(size_t place) const { return layout_->lanes().columns[place]; }
  std::span<const size_t> columns() const { return layout_->lanes().columns; }

  // Histograms of a level are kept for the next one.
  void begin_trees() { kept_.clear(); }
  void begin_level(const Level& level);

  // Fills splits[node * places + place] for every node that is wanted. `deeper`: keep the histograms, the children will
  // be searched too.
  void search(const Level& level, std::span<const std::uint8_t> wanted, bool deeper, OrderedRows& rows,
              AllGradients gradients, std::span<ColumnSplit> splits, Context& context);

  // Some columns of a group at a node; nothing is kept. Fills the splits of those whose bits are set.
  struct GroupPiece {
    const OpenNode* node;
    size_t group;
    std::uint8_t wanted;
    ColumnSplit* splits;
  };
  void search_pieces(std::span<const GroupPiece> pieces, OrderedRows& rows, AllGradients gradients, Context& context);

 private:
  // One node whose histogram is summed from rows. On large tables, or where threads would be idle, its rows are cut
  // into parts by where they lie in the table.
  struct Build {
    bool needed = false;
    NodeRows rows;
    size_t parts = 1;
    size_t at = 0;  // where its parts lie, or its cells
  };
  // A pair of siblings: the smaller is summed from rows, the larger one too or what its parent has more.
  struct Task {
    const Siblings* pair;
    bool small_wanted, large_wanted;
    Build small, large;
    int small_slot, large_slot, parent_slot;  // histograms in the pool; -1: none
  };

  std::vector<Task> tasks_of(const Level& level, std::span<const std::uint8_t> wanted, bool deeper, OrderedRows& rows,
                             Context& context);
  int take_histogram();
  std::int64_t* histogram(int slot, size_t group) {
    return pool_[static_cast<size_t>(slot)].data() + layout_->group_begin(group);
  }
  size_t ranges(std::span<Build* const> builds, int threads) const;
  void build_range(std::span<Build* const> builds, size_t range, size_t begin, size_t end);
  static std::vector<Build*> builds_of(std::vector<Task>& tasks);
  void build_in_parts(std::span<Build* const> builds, Context& context);
  void add_up_parts(std::span<Build* const> builds, Context& context);
  void build(const Build& build, size_t group, std::int64_t* cells, std::int64_t* scratch) const;
  void finish(const Task& task, const Level& level, size_t group, AllGradients gradients, std::span<ColumnSplit> splits,
              std::int64_t* scratch);
  void scan(const OpenNode& node, size_t group, const std::int64_t* cells, AllGradients gradients, ColumnSplit* out,
            std::uint8_t wanted = 255) const;
  void search_portion(std::span<const GroupPiece> pieces, OrderedRows& rows, AllGradients gradients, Context& context);
  ColumnSplit scan_levels(const ScanTask& column, bool at_root) const;
  void prepare_scratch(Context& context);

  const TableFacts& table_;
  const Weights& weights_;
  double min_weight_;
  std::unique_ptr<Histograms> layout_;
  std::vector<AlignedWords> pool_;
  std::vector<std::uint8_t> taken_;
  std::vector<int> kept_, kept_before_;  // the histogram of each node of this level and of the one above; -1: none
  std::vector<AlignedWords> scratch_;    // for each thread, three times a group's cells
  AlignedWords parts_, summed_;
};

}  // namespace frugal
