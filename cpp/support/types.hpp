// Types of numbers that every room uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "support/convert.hpp"

namespace frugal {

using std::size_t;          // columns, nodes, outputs, places in lists, sizes
using Row = std::uint32_t;  // a part of a table holds at most 2^32 - 2 rows
using Bin = std::uint16_t;  // the number of a bin, or how many bins a column has: at most 256
using Int128 = __int128;    // sums that must never overflow or round

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr size_t kNone = ~size_t{0};  // no such column, node or place
inline constexpr Row kNoRow = ~Row{0};       // no such row

}  // namespace frugal
