// Which columns the trees of an iteration may buy: all, or a random sample drawn in every iteration, with probabilities
// in proportion to the gains at the root when all columns were last searched. No column is excluded for good: each
// keeps a chance, and from time to time all columns are searched at the root.
//
// The draw depends only on the seed, the trees so far and their gains: not on threads or on what screening skips.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/engine.hpp"

namespace frugal {

// The state of the draw. With it a continued fit draws the same columns as one long fit.
struct DrawState {
  std::uint64_t iterations = 0, last_look = 0;  // so far, and when all columns were last searched; 0: never
  size_t bought_then = 0;                       // features that were owned at that time
  bool look_at_all = false;                     // whether the next iteration searches all columns
  std::vector<double> gains;                    // of every column, when all were last searched
};

class Offered {
 public:
  // `share` of the columns; negative: chosen from their number. `candidates`: columns that have any splits, ascending.
  // `purchases`: features that the fit to continue from has bought, in order.
  Offered(size_t columns, double share, std::uint64_t seed, std::vector<size_t> candidates, const DrawState& from,
          std::span<const size_t> purchases);

  bool sampling() const { return wanted_ > 0; }

  // Called before every iteration. `bought`: how many features are owned.
  void begin_trees(size_t bought);
  bool all_at_root() const { return all_at_root_; }
  // Whether the next iteration searches all columns, because the last one found no split.
  void look_at_all(bool wanted) { state_.look_at_all = wanted; }
  void record(size_t column, double gain) { state_.gains[column] = std::max(state_.gains[column], gain); }  // at a root

  // The columns of this iteration, ascending. After a search of all columns, those in `taken` are no candidates any
  // more.
  std::vector<size_t> draw(std::span<const std::uint8_t> taken);
  const DrawState& state() const { return state_; }

 private:
  void add_up(std::span<const std::uint8_t> taken);
  std::vector<size_t> drawn() const;

  size_t wanted_;
  std::uint64_t seed_;
  std::vector<size_t> candidates_;
  DrawState state_;
  std::vector<size_t> certain_, open_;  // candidates that are always offered, and those that are drawn from
  std::vector<double> until_;           // cumulative chances of the latter
  bool all_at_root_ = false;
};

}  // namespace frugal
