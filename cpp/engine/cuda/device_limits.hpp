// Sizes of pieces of work. They change no result.
#pragma once

#include <cstddef>

namespace frugal::device {

#ifdef FRUGAL_SMALL_LIMITS
inline constexpr std::size_t kLeastHistogramRows = 5;
inline constexpr std::size_t kLeafTaskRows = 7;
inline constexpr std::size_t kSplitTaskRows = 9;
inline constexpr std::size_t kPiecesAtOnce = 2;
inline constexpr std::size_t kKeptBytes = 4 << 20;
#else
// Rows that a block takes at least for a histogram of 32 columns.
inline constexpr std::size_t kLeastHistogramRows = 1024;
// Rows that a block takes of a leaf.
inline constexpr std::size_t kLeafTaskRows = 4096;
// Rows that a block parts; at most kSplitRows.
inline constexpr std::size_t kSplitTaskRows = 2048;
// Tiles of columns that are searched at once for pieces.
inline constexpr std::size_t kPiecesAtOnce = 1024;
// Memory for the histograms of a pool.
inline constexpr std::size_t kKeptBytes = std::size_t{4} << 30;
#endif

}  // namespace frugal::device
