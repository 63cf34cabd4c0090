// Sizes that decide how work is cut into pieces and which of several equal methods is used. They change no exact
// result. FRUGAL_SMALL_LIMITS makes them tiny, so that tests on small tables go through every path (tools/sanitize
// builds that way).
#pragma once

#include <cstddef>
#include <cstdint>

namespace frugal {

#ifdef FRUGAL_SMALL_LIMITS
inline constexpr int kCountBits = 4;
inline constexpr std::size_t kHistogramPoolBytes = 6000;
inline constexpr std::size_t kLeastPartRows = 2;
inline constexpr std::size_t kBlockedRows = 40;
inline constexpr std::size_t kBlockRows = 5;
inline constexpr std::size_t kPartsBytes = 1 << 20;
inline constexpr std::uint32_t kPartitionRows = 3;
inline constexpr std::uint32_t kLeafRows = 3;
inline constexpr double kWorthThreads = 0;
inline constexpr std::size_t kRadixSortRows = 8;
inline constexpr std::size_t kSummaryRows = 7;
inline constexpr std::size_t kSummaryColumns = 3;
inline constexpr std::size_t kSummaryCells = 50;
inline constexpr std::size_t kSparseShare = 2;
inline constexpr std::size_t kFoldedShare = 2;
inline constexpr std::size_t kSparseSlots = 2;
inline constexpr std::size_t kMergeLeastRows = 2;
inline constexpr std::size_t kScreenColumns = 0;
inline constexpr std::size_t kScreenRows = 0;
inline constexpr std::size_t kSampleLeastRows = 8;
inline constexpr std::size_t kSampleShare = 2;
inline constexpr std::size_t kSampleManyRows = 100;
inline constexpr double kWatchCost = 0.2;
inline constexpr std::size_t kFoldRows = 3;
inline constexpr double kLeastOffered = 3;
inline constexpr std::uint64_t kLookAgain = 2;
inline constexpr std::uint64_t kLookAtAll = 5;
inline constexpr double kFlatCost = 0.05;
inline constexpr std::size_t kFlatColumns = 4;
inline constexpr std::size_t kTrialTrees = 1000;
inline constexpr std::size_t kDerivativesBytes = 2000;
inline constexpr std::size_t kHiddenBytes = 3000;
#else
// A histogram cell of one word holds the row count in this many low bits and the gradient sum above them.
inline constexpr int kCountBits = 18;
// Memory for histograms that are kept for subtraction. When it is full, both children are summed from their rows.
inline constexpr std::size_t kHistogramPoolBytes = std::size_t{512} << 20;
// When nodes are cut into parts, a part has at least this many rows on average.
inline constexpr std::size_t kLeastPartRows = 4096;
// Tables with at least this many rows are read in blocks that stay in the second-level cache.
inline constexpr std::size_t kBlockedRows = 65536;
inline constexpr std::size_t kBlockRows = 16384;
// Memory for the histograms of all parts.
inline constexpr std::size_t kPartsBytes = std::size_t{64} << 20;
// Rows that one task partitions, or whose leaf sums it computes.
inline constexpr std::uint32_t kPartitionRows = 4096;
inline constexpr std::uint32_t kLeafRows = 16384;
// With fewer basic steps than this, waking threads costs more than it gains.
inline constexpr double kWorthThreads = 50000;
// Columns longer than this are sorted by radix sort.
inline constexpr std::size_t kRadixSortRows = 4096;
// How many rows and columns are copied out at a time to be summarised; more columns when they are short.
inline constexpr std::size_t kSummaryRows = std::size_t{1} << 17;
inline constexpr std::size_t kSummaryColumns = 16;
inline constexpr std::size_t kSummaryCells = std::size_t{1} << 18;
// A column is kept sparse if at most one row in this many differs from its usual bin.
inline constexpr std::size_t kSparseShare = 16;
// When most columns have two bins, a sparse one must have this many times fewer rows listed, because eight dense
// columns of two bins are summed in the time of one.
inline constexpr std::size_t kFoldedShare = 4;
// Nodes with fewer rows than this do not use the joint histogram of eight columns of two bins.
inline constexpr std::size_t kFoldRows = 64;
// For how many nodes the histograms of a sparse column are summed in one pass over it.
inline constexpr std::size_t kSparseSlots = 64;
// Tables with fewer rows than this are not searched for equal rows.
inline constexpr std::size_t kMergeLeastRows = 10000;
// Tables smaller than this are searched faster than they are screened.
inline constexpr std::size_t kScreenColumns = 256;
inline constexpr std::size_t kScreenRows = 100000;
// Tables with fewer rows than kSampleLeastRows are not sampled. Of the others one row in kSampleShare is drawn, and
// half as many when there are at least kSampleManyRows.
inline constexpr std::size_t kSampleLeastRows = 20000;
inline constexpr std::size_t kSampleShare = 4;
inline constexpr std::size_t kSampleManyRows = 500000;
// new_features="auto" offers at least this many columns to a tree.
inline constexpr double kLeastOffered = 500;
// After this many iterations all columns are searched at the root again: kLookAgain if a feature was bought since the
// last time, kLookAtAll in any case.
inline constexpr std::uint64_t kLookAgain = 16;
inline constexpr std::uint64_t kLookAtAll = 64;
// The cost of a column is the number of its rows that a tree searches, divided by the rows of the table. A column that
// costs more than this is packed with the owned ones, where a search is cheap.
inline constexpr double kWatchCost = 1.25;
// A column that costs more than this is copied, so that its bins are contiguous,
inline constexpr double kFlatCost = 0.05;
// until there are this many copies, or one for every eighth column.
inline constexpr std::size_t kFlatColumns = 64;
// After this many iterations, screening by a sample of rows goes on only if it has ruled out enough columns.
inline constexpr std::size_t kTrialTrees = 8;
// The derivatives of all outputs are kept until the leaves need them if they fit this much memory. If not, they are
// computed twice.
inline constexpr std::size_t kDerivativesBytes = std::size_t{256} << 20;
// Memory for raw predictions with several lists of features hidden, each by itself.
inline constexpr std::size_t kHiddenBytes = std::size_t{64} << 20;
#endif

// The cost of a column is a moving average over iterations; this is the weight of the past.
inline constexpr double kWatchMemory = 0.875;

// The probability that a fit with screening="auto" misses a column that it should have bought is at most this.
inline constexpr double kMissProbability = 1e-6;

inline constexpr std::int64_t kCountMask = (std::int64_t{1} << kCountBits) - 1;
inline constexpr std::size_t kMostCounted = (std::size_t{1} << kCountBits) - 1;  // rows that a one-word cell can count

}  // namespace frugal
