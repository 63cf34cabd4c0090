// The search: for every node of a level the splits that may be made, by raw gain.
//
// Columns that are owned are searched everywhere. Others only have to be proved too expensive, or are searched too.
// What is left out can't be the best offer of its node at the prices of that moment; when prices fall, it is looked at
// again.
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
  Search(Engine& engine, const Params& params, const Ledger& ledger, double mu, const DrawState& from,
         Context& context);

  void begin_trees();

  // Searches a level and fills in the sums of its nodes. `deeper`: its children will be searched too. `everything`:
  // without proofs, because every column's gain is asked for.
  void level(std::vector<Node>& nodes, bool at_root, bool deeper, bool everything);
  std::span<const Candidate> candidates(size_t node) const { return found_[node]; }

  // Whether the roots of the last trees were compared on every column; if not, whether the next ones shall be.
  bool looked_at_all() const { return !offered_.sampling() || offered_.all_at_root(); }
  void look_at_all(bool wanted) { offered_.look_at_all(wanted); }
  const DrawState& draw_state() const { return offered_.state(); }

  // A column was bought: nodes that are still open get its split, and whatever else may pay now.
  void bought(size_t column, std::span<const size_t> open);

  bool can_split(const NodeSums& node) const { return static_cast<double>(node.weight) >= 2.0 * min_weight_; }

 private:
  using Mask = std::vector<std::uint8_t>;  // over a pool
  enum class Care { everything, with_proofs, again };

  // What is owned is searched by itself, apart from the rest, of which proofs or a sample may leave something out.
  bool owned_apart() const { return screening_ || offered_.sampling(); }
  Pool new_pool() const { return sampled_ ? Pool::offered : Pool::all; }
  // Neither owned nor searched with what is owned.
  bool is_new(size_t column) const { return !ledger_.owned(column) && !packed_[column]; }

  void pack();
  void draw();
  std::vector<size_t> begin_level(std::vector<Node>& nodes);
  bool hopeless_to_prove(size_t node) const;
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
  const Params& params_;
  const Ledger& ledger_;
  Worth worth_;
  Context& context_;
  double min_weight_;  // of a leaf, in units
  bool screening_;
  bool doubting_;  // ask the engine for proofs of its own

  std::vector<size_t> fresh_;         // bought in these trees: they are packed after them
  std::vector<std::uint8_t> packed_;  // columns that are owned, or so often worth a look that they are kept with them
  bool packed_sparse_ = false;        // some of them are sparse
  OftenSearched often_;
  RootBounds root_bounds_;
  SparseColumns sparse_;
  Offered offered_;
  std::vector<size_t> offered_sparse_;
  std::uint32_t iterations_ = 0;
  size_t asked_ = 0, left_ = 0;  // columns that the engine was asked about, and could not rule out

  std::span<const Node> nodes_;  // of the level
  bool at_root_ = false;
  bool sampled_ = false;                       // at this level only what is offered is looked at
  std::vector<std::vector<Candidate>> found_;  // by node of the level
  Mask first_whole_;                           // nodes that were searched as a whole, what is owned included
  Mask complete_;                              // nodes all of whose columns were searched
};

}  // namespace frugal
