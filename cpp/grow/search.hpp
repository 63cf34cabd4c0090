// The search: for every node of a level the splits that may be made, by raw gain.
//
// Columns that are owned are searched everywhere. Others only have to be proved too expensive, or are searched too.
// What is left out can't be the best offer of its node at the prices of that moment; when prices fall, it is looked at
// again.
#pragma once

#include <memory>
#include <vector>

#include "engine/cpu/group_search.hpp"
#include "engine/cpu/owned.hpp"
#include "engine/cpu/sparse_search.hpp"
#include "grow/offered.hpp"
#include "grow/screening.hpp"
#include "price/ledger.hpp"

namespace frugal {

// The nodes of one depth of all trees of an iteration, tree after tree, left to right.
struct Level {
  std::vector<OpenNode> nodes;
  std::vector<Siblings> pairs;
};

struct Candidate {
  int column;
  ColumnSplit split;
};

class Search {
 public:
  Search(const BinnedMatrix& X, const Weights& weights, size_t outputs, const Params& params, const Ledger& ledger,
         double mu);

  void begin_trees(const RowPartition& partition, AllGradients gradients, Context& context);

  // Searches a level. `deeper`: its children will be searched too. `everything`: without proofs, because every
  // column's gain is asked for.
  void level(Level& level, bool deeper, bool everything, Context& context);
  const std::vector<Candidate>& candidates(int node) const { return found_[static_cast<size_t>(node)]; }

  // Whether the roots of the last trees were compared on every column; if not, whether the next ones shall be.
  bool looked_at_all() const { return !offered_.sampling() || offered_.all_at_root(); }
  void look_at_all(bool wanted) { offered_.look_at_all(wanted); }

  // A column was bought: nodes that are still open get its split, and whatever else may pay now.
  void bought(size_t column, std::span<const int> open, Context& context);

  // Which nodes were split, and how: what they leave is the next level.
  void split(std::span<const ChosenSplit> splits, std::span<const int> nodes, Context& context);

  // Bins of some rows, given in ascending order.
  void gather(size_t column, std::span<const Row> rows, std::uint8_t* out) const;

  // A node's rows on a categorical column, in the order of the search.
  LevelGroups levels_of(const OpenNode& node, size_t column) const;

  bool can_split(const OpenNode& node) const { return static_cast<double>(node.weight) >= 2.0 * min_weight_; }

 private:
  using Mask = std::vector<std::uint8_t>;  // dense columns, eight to a byte
  static size_t count(const Mask& mask);
  static bool most_groups(const Mask& mask);

  // What is owned is searched apart from the rest, which proofs or a sample may leave out.
  bool apart() const { return screening_ || offered_.sampling(); }
  GroupSearch& new_search() { return sampled_ ? offered_search_ : all_search_; }
  const GroupSearch& new_search() const { return sampled_ ? offered_search_ : all_search_; }
  void set_sums(Level& level, Context& context);
  bool better_whole(int node) const;
  void search_owned(std::span<const int> nodes, bool deeper, Context& context);
  void search_column(size_t column, std::span<const int> nodes, Context& context);
  enum class Way { everything, with_proofs, again };
  void search_new(std::span<const int> nodes, bool deeper, Way way, Context& context);
  void rule_out(std::span<const int> nodes, bool again, std::vector<Mask>& alive, Context& context);
  void search_whole(std::span<const int> nodes, const std::vector<std::uint8_t>& whole, bool deeper, Context& context);
  void search_some(std::span<const int> nodes, const std::vector<Mask>& alive, const std::vector<std::uint8_t>& whole,
                   Context& context);
  void take(int node, size_t column, const ColumnSplit& split);
  void watch(size_t column, size_t rows);
  void pack(Context& context);
  void draw(Context& context);
  struct Demand {
    int node, output;
    double bar, weight, mean, least_weight;  // mean: magnitude of the mean gradient
  };
  std::vector<Demand> demands(std::span<const int> nodes, bool proofs, double cheapest) const;
  bool listed_may_pay(size_t number, double price, std::span<const Demand> demands) const;
  bool root_may_pay(size_t number, double price, std::span<const Demand> demands) const;
  void price_sparse(std::span<const size_t> numbers);
  std::vector<size_t> sparse_left(std::span<const Demand> open, bool proofs, Context& context) const;
  void search_new_sparse(std::span<const int> nodes, bool everything, Context& context);

  // What a gain must exceed at a node for any column that could be bought: the best of what is owned, or nothing.
  double bar(int node) const;
  // What the column must gain at a node whose bar is known; infinite: it can't be bought.
  double enough(size_t column, double bar) const;
  // Neither owned nor searched with what is owned.
  bool is_new(size_t column) const { return !ledger_.owned(column) && !packed_[column]; }
  Mask possible(int node, bool everything) const;
  void note(int node, size_t column, const ColumnSplit& split);

  const BinnedMatrix& X_;
  const Weights& weights_;
  size_t outputs_;
  const Params& params_;
  const Ledger& ledger_;
  double mu_, min_weight_;
  bool screening_;

  OrderedRows rows_;
  OwnedColumns owned_;
  std::vector<size_t> fresh_;         // bought in this tree: they are packed after it
  std::vector<std::uint8_t> packed_;  // columns that are owned, or so often worth a look that they are kept with them
  bool packed_sparse_ = false;        // some of them are sparse
  struct Watched {                    // how many tables a tree a column costs that can't be ruled out
    float cost = 0;
    std::uint32_t iteration = 0;  // when it was last searched
  };
  std::vector<Watched> watched_;
  std::vector<size_t> costly_, often_;  // columns that are to be packed, and those that get a copy by themselves
  GroupSearch owned_search_, flat_search_, all_search_, offered_search_;
  SparseSearch sparse_search_;
  Offered offered_;
  std::vector<std::pair<size_t, double>> sparse_prices_;  // numbers of sparse columns that can be bought
  double cheapest_sparse_ = kInfinity;
  std::pair<size_t, std::uint32_t> priced_at_{~size_t{0}, 0};  // purchases then, and the iteration where it matters
  bool measured_ = false;                                      // sparse columns, with the gradients of these trees
  bool sampled_ = false;                                       // at this level only what is offered is looked at
  RootBounds root_bounds_;
  std::unique_ptr<RowSample> sample_;
  bool sampling_ = false;
  std::uint32_t iterations_ = 0;
  size_t asked_ = 0, left_ = 0;  // columns that the sample was asked about, and could not rule out

  const RowPartition* partition_ = nullptr;
  AllGradients gradients_;
  Level* level_ = nullptr;
  bool at_root_ = false;
  std::vector<std::vector<Candidate>> found_;  // by node of the level
  std::vector<std::uint8_t> first_whole_;      // nodes that were searched as a whole, what is owned included
  std::vector<std::uint8_t> complete_;         // nodes all of whose columns were searched
};

}  // namespace frugal
