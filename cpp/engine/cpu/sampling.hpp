// Screening by a random sample of rows, which shows that most columns can't be worth their price at a fraction of the
// work.
//
// sqrt(2 gain) of a split is the length of a projection of the node's centred gradients. It is bounded by its length on
// a random sample of the node's rows plus a margin for the sampling error.
#pragma once

#include <vector>

#include "data/binning.hpp"
#include "engine/cpu/gradients.hpp"
#include "engine/cpu/group_search.hpp"
#include "engine/cpu/partition.hpp"

namespace frugal {

// The rows of the sample, in random order. They depend on the seed and on the dense bins and first gradients of every
// row, so a change of the seed, the order of rows or the table gives an independent sample.
std::vector<Row> rows_to_sample(const BinnedMatrix& X, const GridGradients& first, std::uint64_t seed,
                                Context& context);

// A question with its node's sums over all rows and the range of the gradients.
struct SampledCase {
  ScreeningQuery& query;
  const NodeSums& sums;
  const GradientFacts& gradients;
};

// What a sample of a node's rows proves about its splits on all rows.
class SampleBounds {
 public:
  // A miss needs a column that is worth buying, and there are at most as many purchases as columns. Each column may be
  // missed at five sizes of the sample: the four of first_look, and the whole sample. `miss`: the largest probability,
  // for the whole fit, that a column is not bought although it should be.
  SampleBounds(size_t columns, double miss);

  // The number of rows that is enough to rule out a column without any gain.
  double rows_needed(const SampledCase& given) const;
  // Clears the bits of a group of eight columns that can't gain more than their limits, by their splits on `sampled`
  // rows of the node.
  void judge(const SampledCase& given, size_t group, double sampled, std::span<const ColumnSplit> splits) const;

 private:
  static double deviation(const SampledCase& given, double share);

  double z_;  // how many deviations the bound allows for
};

// The sample follows the trees as they grow. The rows of a node in it are a random sample of the node's rows, and so
// are the first m of them.
class RowSample {
 public:
  // `chosen`: rows of the table, in random order. `miss`: as SampleBounds.
  RowSample(const BinnedMatrix& X, const TableFacts& table, std::vector<Row> chosen, double miss, Context& context);

  // `drawn`: the rows that these trees see.
  void begin_trees(AllGradients gradients, const DrawnRows& drawn, Context& context);
  // Goes on to the next level: the children of the splits, in order.
  void split(std::span<const SplitRule> splits, Context& context);

  // `nodes`: of the level; those with a query have all sums.
  void rule_out(std::span<ScreeningQuery> queries, std::span<const OpenNode> nodes, AllGradients gradients,
                Context& context);

 private:
  using Case = SampledCase;
  void look(std::span<const Case> cases, std::span<const size_t> counts, Context& context);
  size_t first_look(const Case& given) const;

  const BinnedMatrix& X_;
  SampleBounds bounds_;
  std::vector<Row> chosen_;
  BinnedMatrix rows_;
  Weights weights_;
  TableFacts facts_;
  std::vector<GridGradients> gradients_;  // of the rows in the sample, by tree
  RowPartition partition_;
  OrderedRows ordered_;
  GroupSearch search_;
  std::vector<OpenNode> nodes_;  // of the level; their rows are places in the sample
};

}  // namespace frugal
