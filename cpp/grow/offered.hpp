// Which columns the trees of an iteration may buy: all of them, or a sample drawn anew for every iteration, in
// proportion to what columns gained at a root when all were last looked at. Nobody is excluded for good: every column
// keeps a chance, and from time to time the root looks at all.
//
// What is drawn depends on the seed, the trees so far and their gains alone: not on threads, nor on what screening
// skips.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/engine.hpp"

namespace frugal {

// What a continued fit must know to draw as one long fit would.
struct DrawState {
  std::uint64_t iterations = 0, last_look = 0;  // trees so far, and when all columns were last looked at; 0: never
  size_t bought_then = 0;                       // features that were owned then
  bool look_at_all = false;                     // the next trees shall
  std::vector<double> gains;                    // of every column, at that look
};

class Offered {
 public:
  // `share` of the columns; negative: as many as seem enough. `candidates`: columns that can be split at all,
  // ascending. `purchases`: what a fit to go on from has bought, in order.
  Offered(size_t columns, double share, std::uint64_t seed, std::vector<size_t> candidates, const DrawState& from,
          std::span<const size_t> purchases);

  bool sampling() const { return wanted_ > 0; }

  // Before every iteration. `bought`: how many features are owned by now.
  void begin_trees(size_t bought);
  bool all_at_root() const { return all_at_root_; }
  // Whether all trees of the next iteration look at all columns, because those of the last one found nothing.
  void look_at_all(bool wanted) { state_.look_at_all = wanted; }
  void know(size_t column, double gain) { state_.gains[column] = std::max(state_.gains[column], gain); }  // at a root

  // The columns of this iteration, ascending; where all were looked at, those that are `taken` leave the game.
  std::vector<size_t> draw(std::span<const std::uint8_t> taken);
  const DrawState& state() const { return state_; }

 private:
  void add_up(std::span<const std::uint8_t> taken);
  std::vector<size_t> drawn() const;

  size_t wanted_;
  std::uint64_t seed_;
  std::vector<size_t> candidates_;
  DrawState state_;
  std::vector<size_t> certain_, open_;  // candidates that are offered for certain, and those that have a chance
  std::vector<double> until_;           // the chances of all the latter up to one, added up
  bool all_at_root_ = false;
};

}  // namespace frugal
