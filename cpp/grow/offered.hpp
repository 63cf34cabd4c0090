// Which columns the trees of an iteration may buy: all of them, or a sample drawn anew for every iteration, in
// proportion to what columns gained at a root when all were last looked at. Nobody is excluded for good: every column
// keeps a chance, and from time to time the root looks at all.
//
// What is drawn depends on the seed, the trees so far and their gains alone: not on threads, nor on what screening
// skips.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "data/binning.hpp"
#include "data/lanes.hpp"

namespace frugal {

class Offered {
 public:
  // `share` of the columns; negative: as many as seem enough. `sparse`: numbers of the sparse columns worth a search.
  Offered(const BinnedMatrix& X, double share, std::uint64_t seed, std::span<const size_t> sparse);

  bool sampling() const { return wanted_ > 0; }

  // Before every iteration. `bought`: how many features are owned by now.
  void begin_trees(size_t bought);
  bool all_at_root() const { return all_at_root_; }
  // Whether all trees of the next iteration look at all columns, because those of the last one found nothing.
  void look_at_all(bool wanted) { asked_ = wanted; }
  void know(size_t column, double gain) { gain_[column] = std::max(gain_[column], gain); }  // at a root

  // Draws the columns of this iteration and packs them; where all were looked at, columns that are `taken` leave the
  // game.
  void draw(std::span<const std::uint8_t> taken, Context& context);
  const Lanes& lanes() const { return lanes_; }
  std::span<const size_t> sparse() const { return sparse_; }

 private:
  void add_up(std::span<const std::uint8_t> taken);
  std::vector<size_t> drawn() const;

  const BinnedMatrix& X_;
  size_t wanted_;
  std::uint64_t seed_;
  std::vector<size_t> candidates_;  // columns that can be split at all
  std::vector<double> gain_;
  std::vector<size_t> certain_, open_;  // candidates that are offered for certain, and those that have a chance
  std::vector<double> until_;           // the chances of all the latter up to one, added up
  bool all_at_root_ = false, asked_ = false;
  std::uint64_t iterations_ = 0, last_look_ = 0;
  size_t bought_then_ = 0;
  Lanes lanes_;
  std::unique_ptr<std::uint8_t[]> memory_;
  size_t bytes_ = 0;
  std::vector<size_t> sparse_;
};

}  // namespace frugal
