// Best splits on dense columns, from histograms: for every node of a level, the best split of every column by raw gain.
//
// It knows nothing of prices. A backend on another device is another way to answer the same question.
#pragma once

#include <memory>
#include <vector>

#include "data/levels.hpp"
#include "engine/cpu/histogram.hpp"
#include "engine/cpu/kernels.hpp"
#include "engine/cpu/node_rows.hpp"

namespace frugal {

// Histograms of a pair of nodes in the pool of one search; -1: none.
struct Kept {
  int parent = -1;             // from the level above
  int small = -1, large = -1;  // filled in by the search
};

// Two nodes of one parent, or the root alone (then `large` has no rows).
struct Siblings {
  OpenNode small, large;       // by number of rows
  int small_slot, large_slot;  // their numbers in the level; -1: the node can't be split
  OpenNode parent;             // of which only sums are asked for
  Kept owned{}, all{};         // of the searches on owned columns and on all of them
};

class GroupSearch {
 public:
  GroupSearch(const BinnedMatrix& X, const Weights& weights, double min_weight);

  // The columns to search from now on; histograms of others are forgotten.
  void use(const Lanes& lanes);
  size_t places() const { return layout_->lanes().places(); }
  size_t column(size_t place) const { return layout_->lanes().columns[place]; }

  // Fills splits[slot * places + place] for every slot that is wanted. `kept` says which histograms of a pair are this
  // search's. `deeper`: keep the histograms, the children will be searched too.
  void search(std::span<Siblings> level, Kept Siblings::* kept, std::span<const std::uint8_t> wanted, bool deeper,
              OrderedRows& rows, AllGradients gradients, std::span<ColumnSplit> splits, Context& context);

  // Some columns of a group of eight at some nodes; nothing is kept. Fills the splits of those whose bits are set.
  struct Piece {
    const OpenNode* node;
    size_t group;
    std::uint8_t wanted;
    ColumnSplit splits[kLanes];
  };
  void search_pieces(std::span<Piece> pieces, OrderedRows& rows, AllGradients gradients, Context& context);

 private:
  // One node whose histogram is summed from rows. On large tables, or where threads would be idle, its rows are cut
  // into parts by where they lie in the table.
  struct Build {
    NodeRows rows;
    size_t parts = 1;
    size_t at = 0;  // where its parts lie
  };
  struct Task {
    Siblings* pair;
    bool small_wanted, large_wanted;
    Build small, large;  // count 0: not summed from rows
  };

  void keep_histograms(std::span<Siblings> level, Kept Siblings::* kept, std::span<const std::uint8_t> wanted,
                       bool deeper);
  int take_histogram();
  std::int64_t* histogram(int slot, size_t group) {
    return pool_[static_cast<size_t>(slot)].data() + layout_->group_begin(group);
  }
  size_t ranges(std::span<Build* const> builds, int threads) const;
  void build_range(std::span<Build* const> builds, size_t range, size_t begin, size_t end);
  void build_in_parts(std::vector<Task>& tasks, Context& context);
  void build(const Build& build, size_t group, std::int64_t* cells, std::int64_t* scratch) const;
  void finish(const Task& task, const Kept& kept, size_t group, AllGradients gradients, std::span<ColumnSplit> splits,
              std::int64_t* scratch);
  void scan(const OpenNode& node, size_t group, const std::int64_t* cells, AllGradients gradients, ColumnSplit* out,
            std::uint8_t wanted = 255) const;
  void search_portion(std::span<Piece> pieces, OrderedRows& rows, AllGradients gradients, Context& context);
  ColumnSplit scan_levels(const ScanTask& column, bool at_root) const;
  void prepare_scratch(Context& context);

  const BinnedMatrix& X_;
  const Weights& weights_;
  double min_weight_;
  std::unique_ptr<Histograms> layout_;
  std::vector<AlignedWords> pool_;
  std::vector<std::uint8_t> taken_;
  std::vector<AlignedWords> scratch_;  // for each thread, three times a group's cells
  AlignedWords parts_;
};

}  // namespace frugal
