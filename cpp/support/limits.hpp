// Sizes at which work is cut up. They change no result. FRUGAL_SMALL_LIMITS makes them tiny, so that tests on small
// tables go through every path (tools/sanitize builds that way).
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
inline constexpr int kSparseSlots = 2;
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
#else
// A histogram cell of one word holds the gradient sum above this many bits of row count.
inline constexpr int kCountBits = 18;
// Histograms kept for subtraction; beyond, both children are summed from rows.
inline constexpr std::size_t kHistogramPoolBytes = std::size_t{512} << 20;
// Where nodes are cut into parts, these have so many rows at least, on average.
inline constexpr std::size_t kLeastPartRows = 4096;
// From so many rows on the table is gone through in blocks, which stay in the second-level cache.
inline constexpr std::size_t kBlockedRows = 65536;
inline constexpr std::size_t kBlockRows = 16384;
// Memory for the histograms of all parts.
inline constexpr std::size_t kPartsBytes = std::size_t{64} << 20;
// Rows that one task parts, or whose leaf sums it takes.
inline constexpr std::uint32_t kPartitionRows = 4096;
inline constexpr std::uint32_t kLeafRows = 16384;
// Basic steps below which waking threads costs more than it gains.
inline constexpr double kWorthThreads = 50000;
// Columns longer than this are sorted by digits.
inline constexpr std::size_t kRadixSortRows = 4096;
// Rows and columns whose values are copied out at a time to be summarised; more columns where they are short.
inline constexpr std::size_t kSummaryRows = std::size_t{1} << 17;
inline constexpr std::size_t kSummaryColumns = 32;
inline constexpr std::size_t kSummaryCells = std::size_t{1} << 18;
// A column of a sparse table is kept sparse where at most one value in so many is stored.
inline constexpr std::size_t kSparseShare = 16;
// So many times fewer where most columns have two values, eight of which are summed at the price of one.
inline constexpr std::size_t kFoldedShare = 4;
// Nodes of fewer rows are summed column by column.
inline constexpr std::size_t kFoldRows = 64;
// Nodes whose histograms of a sparse column are summed in one pass over it.
inline constexpr int kSparseSlots = 64;
// Equal rows of smaller tables than this are not looked for.
inline constexpr std::size_t kMergeLeastRows = 10000;
// Smaller tables than this are searched faster than anything is proved about them.
inline constexpr std::size_t kScreenColumns = 256;
inline constexpr std::size_t kScreenRows = 100000;
// Tables of fewer rows are not sampled; of others one row in so many is, and of large ones half as many.
inline constexpr std::size_t kSampleLeastRows = 20000;
inline constexpr std::size_t kSampleShare = 4;
inline constexpr std::size_t kSampleManyRows = 500000;
// new_features="auto" offers so many columns to a tree at least.
inline constexpr double kLeastOffered = 500;
// All columns are looked at so many trees after they last were: where something was bought since, and in any case.
inline constexpr std::uint64_t kLookAgain = 16;
inline constexpr std::uint64_t kLookAtAll = 64;
// A column that had to be searched in so many tables a tree is kept with the owned ones, where a search is cheap.
inline constexpr double kWatchCost = 1.25;
// And one that had to be searched in so many is copied out, so that its bins lie together.
inline constexpr double kFlatCost = 0.05;
// Until there are so many copies, or one for every eighth column.
inline constexpr std::size_t kFlatColumns = 64;
// After so many trees it is decided whether the sample is worth its while.
inline constexpr std::size_t kTrialTrees = 8;
// Up to so much memory the derivatives of all outputs are kept until the leaves need them; else they are taken twice.
inline constexpr std::size_t kDerivativesBytes = std::size_t{256} << 20;
#endif

// How much of what was searched before the last tree still counts.
inline constexpr double kWatchMemory = 0.875;

// How probable it may be that a fit with screening="auto" misses a column that it should have bought.
inline constexpr double kMissProbability = 1e-6;

inline constexpr std::int64_t kCountMask = (std::int64_t{1} << kCountBits) - 1;

}  // namespace frugal
