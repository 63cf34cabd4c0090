// The search: for every node of a level the best splits of columns by raw gain.
//
// Owned columns are searched at all nodes. A new column is searched too, unless a bound shows that it can't be the best
// offer of the node at the current prices. When prices fall, columns that were left out are searched again.
#pragma once

#include <vector>

#include "grow/bounds.hpp"
#include "grow/offered.hpp"
#include "grow/often_searched.hpp"
#include "grow/sparse_columns.hpp"
#include "grow/worth.hpp"
#include "support/threads.hpp"

namespace frugal {

class Search {
 public:
  Search(Engine& engine, const Params& params, const Worth& worth, Looks& looks, const DrawState& from,
         const Constraints& constraints, Context& context);

  // `signs`: of the outputs, if one tree grows for all of them; else empty.
  void begin_trees(std::span<const std::int8_t> signs, const RowDraw& rows);

  // Searches a level and sets the sums of its nodes. `deeper`: its children will be searched too. `everything`: without
  // screening, because the gain of every column is needed. `wanted`: flags of the nodes to search; empty: all.
  void level(std::vector<Node>& nodes, bool at_root, bool deeper, bool everything,
             std::span<const std::uint8_t> wanted = {});
  std::span<const Candidate> candidates(size_t node) const { return found_[node]; }

  // Whether all columns were searched at the roots of the last trees.
  bool looked_at_all() const { return !offered_.sampling() || offered_.all_at_root(); }
  // Whether all columns will be searched at the roots of the next trees.
  void look_at_all(bool wanted) { offered_.look_at_all(wanted); }
  const DrawState& draw_state() const { return offered_.state(); }

  // A column was bought: searches it at the nodes that are still open, and all columns that may be worth their price
  // now.
  void bought(size_t column, std::span<const size_t> open);

  bool can_split(const NodeSums& node) const { return real(node.weight) >= 2.0 * min_weight_; }

 private:
  using Mask = std::vector<std::uint8_t>;  // over a pool, or a flag for each node
  enum class Care { everything, with_bounds, again };

  // Whether owned columns are searched separately, because bounds or a sample leave out some of the others.
  bool owned_apart() const { return screening_ || offered_.sampling() || draws_columns_; }
  // Whether these trees may buy only some columns.
  bool offers() const { return offered_.sampling() || !worth_.all_drawn(); }
  Pool new_pool() const { return sampled_ ? Pool::offered : Pool::all; }
  // Whether the column is neither owned nor searched with the owned ones.
  bool is_new(size_t column) const { return !ledger_.owned(column) && !packed_[column]; }

  void pack();
  void offer();
  std::vector<size_t> begin_level(std::vector<Node>& nodes, std::span<const std::uint8_t> wanted);
  void confine_nodes(std::vector<Node>& nodes, const Mask& asked);
  double least_gain(size_t node) const { return worth_.least_gain(nodes_[node], found_[node]); }
  bool screening_is_hopeless(size_t node) const;
  void search_owned(std::span<const size_t> nodes, bool deeper);
  void search_column(size_t column, std::span<const size_t> nodes);
  void search_new(std::span<const size_t> nodes, bool deeper, Care care);
  Mask possible(size_t node, bool everything) const;
  void rule_out(std::span<const size_t> nodes, bool again, std::vector<Mask>& alive);
  void search_whole(std::span<const size_t> nodes, const Mask& whole, bool deeper);
  void search_some(std::span<const size_t> nodes, const std::vector<Mask>& alive, const Mask& whole);
  void search_sparse(std::span<const size_t> nodes, bool everything);
  void take(size_t node, size_t column, const ColumnSplit& split);
  void note(size_t node, size_t column, const ColumnSplit& split);

  Engine& engine_;
  const Worth& worth_;
  Looks& looks_;
  const Ledger& ledger_;
  Context& context_;
  double min_weight_;  // of a leaf, in units
  bool best_first_;    // what a leaf was once found to offer must be all that it ever does
  bool with_trends_;   // predictions must not fall, or rise, with some columns
  bool screening_;
  bool draws_columns_;        // the trees of most iterations may use only some columns
  bool screening_by_sample_;  // the engine is asked to rule out columns, too

  std::vector<size_t> newly_bought_;  // in these trees; they are packed before the next ones
  std::vector<std::uint8_t> packed_;  // columns in Pool::owned: owned ones, and others that are searched very often
  bool packed_sparse_ = false;        // some packed columns are sparse
  OftenSearched often_;
  RootBounds root_bounds_;
  SparseColumns sparse_;
  std::vector<size_t> candidates_;  // columns that have any splits, ascending
  Offered offered_;
  std::vector<size_t> offered_sparse_;
  std::uint32_t iterations_ = 0;
  size_t asked_ = 0, left_ = 0;  // columns that the engine was asked about, and those that it could not rule out

  std::span<const Node> nodes_;  // of the level
  bool at_root_ = false;
  bool some_rows_ = false;                     // the trees see only some rows, so that earlier gains say nothing
  bool sampled_ = false;                       // at this level only offered columns are searched
  std::vector<std::vector<Candidate>> found_;  // by node of the level
  Mask whole_first_;                           // nodes at which owned and new columns were searched together
  Mask complete_;                              // nodes at which all columns were searched
};

}  // namespace frugal
