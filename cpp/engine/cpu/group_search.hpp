// Best splits on dense columns, from histograms: for every node of a level, the split of each column with the largest
// raw gain.
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

  // Replaces the columns to search; kept histograms are dropped.
  void use(const Lanes& lanes);
  size_t places() const { return layout_->lanes().places(); }
  size_t column(size_t place) const { return layout_->lanes().columns[place]; }
  std::span<const size_t> columns() const { return layout_->lanes().columns; }

  // Histograms of a level are kept for the next one.
  void begin_trees() { kept_.clear(); }
  void begin_level(const Level& level);

  // Fills splits[node * places + place] for the nodes in `wanted`. `deeper`: the children will be searched too, so
  // histograms are kept.
  void search(const Level& level, std::span<const std::uint8_t> wanted, bool deeper, OrderedRows& rows,
              AllGradients gradients, std::span<ColumnSplit> splits, Context& context);

  // Some columns of a group at a node: those whose bits are set in `wanted`. No histograms are kept.
  struct GroupPiece {
    const OpenNode* node;
    size_t group;
    std::uint8_t wanted;
    ColumnSplit* splits;
  };
  void search_pieces(std::span<const GroupPiece> pieces, OrderedRows& rows, AllGradients gradients, Context& context);

 private:
  // A histogram that is summed from a node's rows. On large tables, or if threads would be idle, the rows are cut into
  // parts by ranges of the table.
  struct Build {
    bool needed = false;
    NodeRows rows;
    size_t parts = 1;  // 0: the cells are already summed over all parts of the table
    size_t at = 0;     // where its parts, or its cells, begin
  };
  // A pair of siblings: the smaller one is summed from its rows, the larger one too, or by subtraction from the parent.
  struct Task {
    const Siblings* pair;
    bool small_wanted, large_wanted;
    Build small, large;
    size_t small_slot, large_slot, parent_slot;  // histograms in the pool, or kNone
  };
  // The rows of pieces, cut into parts for the threads.
  struct PieceParts {
    struct Part {
      size_t piece;
      NodeRows rows;
      size_t at;  // where its cells begin
    };
    std::vector<Part> parts;            // the first part of each piece, in order, then all others
    std::vector<size_t> others;         // where the other parts of each piece begin, and the end
    size_t words = 0, first_words = 0;  // the cells of all parts, and of the first ones
    double work = 0;
  };

  std::vector<Task> tasks_of(const Level& level, std::span<const std::uint8_t> wanted, bool deeper, OrderedRows& rows,
                             Context& context);
  size_t take_histogram();
  size_t kept_of_parent(const Siblings& pair) const {
    return pair.parent < kept_before_.size() ? kept_before_[pair.parent] : kNone;
  }
  std::int64_t* histogram(size_t slot, size_t group) { return pool_[slot].data() + layout_->group_begin(group); }
  size_t ranges(std::span<Build* const> builds, size_t threads) const;
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
  PieceParts cut(std::span<const GroupPiece> pieces, OrderedRows& rows, Context& context) const;
  void add_up(const PieceParts& cut, size_t piece, size_t group);
  ColumnSplit scan_levels(const ScanTask& column, const ValueRange& range, bool at_root) const;
  void prepare_scratch(Context& context);

  const TableFacts& table_;
  const Weights& weights_;
  double min_weight_;
  std::unique_ptr<Histograms> layout_;
  std::vector<AlignedWords> pool_;
  std::vector<std::uint8_t> taken_;
  std::vector<size_t> kept_, kept_before_;  // the histogram of each node of this level and of the one above, or kNone
  std::vector<AlignedWords> scratch_;       // for each thread, three times a group's cells
  AlignedWords parts_, summed_;
};

}  // namespace frugal
