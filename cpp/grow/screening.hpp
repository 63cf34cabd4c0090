// Proofs that a column which is not owned can't be worth its price at a node, so that nobody needs to look at it.
//
// sqrt(2 gain) of a split is the length of a projection of the node's centred gradients. That gives three bounds: the
// length of the gradients themselves; what a column gained at the root some trees ago plus how far the gradients have
// moved since; and what it gains on a random sample of the node's rows plus what chance can add.
#pragma once

#include <vector>

#include "data/binning.hpp"
#include "engine/cpu/group_search.hpp"
#include "engine/cpu/partition.hpp"
#include "loss/gradients.hpp"

namespace frugal {

// Bounds are computed with rounding; this much on top makes them safe.
inline constexpr double kSafe = 1.0 + 1e-9;

// More than any split of the node can gain. Exact sums of the node are needed.
double room_of(const OpenNode& node, const GridGradients& gradients, const Weights& weights);

// What columns can gain at the root, from what they gained there before.
class RootBounds {
 public:
  RootBounds(size_t columns, const Weights& weights) : columns_(columns), weights_(weights) {}

  // Takes note of how far the gradients of each output have moved since its last tree.
  void begin_trees(AllGradients gradients, Context& context);
  double bound(int output, size_t column) const;
  // The most that a split of the column gains at the root of this output's tree, out of a family of splits that is the
  // same for every tree: which levels of a category are on which side, say, but not in which order they come.
  void know(int output, size_t column, double gain);

 private:
  struct Output {
    std::vector<std::int32_t> q;  // of the last tree
    int shift = 0;
    double way = 0.0;            // length of all moves so far
    std::vector<double> length;  // sqrt(2 gain) of each column when last known, less the way until then
  };
  double move(Output& from, const GridGradients& to, Context& context) const;

  size_t columns_;
  const Weights& weights_;
  std::vector<Output> outputs_;
};

// The rows that are sampled, in random order. They follow from the seed, all dense bins and the first gradients, each
// with its row: rows that were unlucky once are not so again with another seed, order or table.
std::vector<std::int64_t> rows_to_sample(const BinnedMatrix& X, const GridGradients& first, std::uint64_t seed,
                                         Context& context);

// A random part of the rows, which follows the tree as it grows. The rows of a node in it are a random sample of the
// node's rows, and so are the first m of them.
class RowSample {
 public:
  // `chosen`: rows of the table, in random order. `miss`: how probable it may be, for the whole fit, that a column
  // which should have been bought is not.
  RowSample(const BinnedMatrix& X, size_t outputs, std::vector<std::int64_t> chosen, double miss, Context& context);

  void begin_trees(AllGradients gradients, Context& context);
  // The nodes below those that were split, two for each, in order.
  void split(std::span<const ChosenSplit> splits, std::span<const int> slots, Context& context);

  // Rules columns out: clears bits in `alive` (a byte for each group of eight) of columns that can't gain more than
  // enough[place] at the node in `slot`.
  struct Question {
    int slot;
    const OpenNode* node;
    double least;   // of what is enough, over all columns that are alive
    double lowest;  // over all that are not owned: unlike `least`, it can't depend on what the sample showed before
    bool again;     // about this node, which was asked about before
    std::vector<double> enough;
    std::vector<std::uint8_t>* alive;
  };
  void rule_out(std::span<Question> questions, AllGradients gradients, Context& context);

 private:
  static double stray(const OpenNode& node, const GridGradients& gradients, double share);
  void look(std::span<Question> questions, std::span<const size_t> counts, AllGradients gradients, Context& context);
  void judge(const GroupSearch::Piece& piece, Question& question, const GridGradients& gradients) const;
  double rows_needed(const Question& question, const GridGradients& gradients) const;
  size_t first_look(const Question& question, const GridGradients& gradients) const;

  const BinnedMatrix& X_;
  double z_;
  std::vector<std::int64_t> chosen_;
  BinnedMatrix rows_;
  Weights weights_;
  std::vector<GridGradients> gradients_;  // of the rows in the sample, by output
  RowPartition partition_;
  OrderedRows ordered_;
  GroupSearch search_;
  std::vector<OpenNode> nodes_;  // of the level, as stretches of the sample
};

}  // namespace frugal
