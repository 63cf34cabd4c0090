// A random part of the rows shows that most columns can't be worth their price, at a fraction of the work.
//
// sqrt(2 gain) of a split is the length of a projection of the node's centred gradients. Its length on a random sample
// of the node's rows, plus what chance can add, bounds it.
#pragma once

#include <vector>

#include "data/binning.hpp"
#include "engine/cpu/gradients.hpp"
#include "engine/cpu/group_search.hpp"
#include "engine/cpu/partition.hpp"

namespace frugal {

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
  RowSample(const BinnedMatrix& X, const TableFacts& table, size_t outputs, std::vector<std::int64_t> chosen,
            double miss, Context& context);

  void begin_trees(AllGradients gradients, Context& context);
  // The nodes below those that were split, two for each, in order.
  void split(std::span<const SplitRule> splits, Context& context);

  // `nodes` of the level, of which those that are doubted have all sums.
  void rule_out(std::span<Doubt> doubts, std::span<const OpenNode> nodes, AllGradients gradients, Context& context);

 private:
  // A doubt with its node's sums over all rows and the gradients there.
  struct Case {
    Doubt& doubt;
    const NodeSums& sums;
    const GradientFacts& gradients;
  };
  static double stray(const Case& given, double share);
  void look(std::span<const Case> cases, std::span<const size_t> counts, Context& context);
  void judge(const Case& given, size_t group, double sampled, std::span<const ColumnSplit> splits) const;
  double rows_needed(const Case& given) const;
  size_t first_look(const Case& given) const;

  const BinnedMatrix& X_;
  double z_;
  std::vector<std::int64_t> chosen_;
  BinnedMatrix rows_;
  Weights weights_;
  TableFacts facts_;
  std::vector<GridGradients> gradients_;  // of the rows in the sample, by output
  RowPartition partition_;
  OrderedRows ordered_;
  GroupSearch search_;
  std::vector<OpenNode> nodes_;  // of the level, as stretches of the sample
};

}  // namespace frugal
