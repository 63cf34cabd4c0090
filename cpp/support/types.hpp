// Numbers that every room uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace frugal {

using std::size_t;
using Row = std::uint32_t;  // a part of a table holds at most 2^32 - 1 rows
using Wide = __int128;      // sums that must never overflow or round

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr size_t kNone = ~size_t{0};  // no such column, node or place

}  // namespace frugal
