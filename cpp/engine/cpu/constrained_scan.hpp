// The best split of a column where constraints hold: only splits whose sides are in the column's order are allowed, and
// the values of both sides count as brought into the node's range.
#pragma once

#include "engine/engine.hpp"
#include "support/kernels.hpp"

namespace frugal {

// `packed`: the cells are of one word, else of two.
ScanResult constrained_scan(const ScanTask& column, bool packed, std::int8_t trend, const ValueRange& range);

}  // namespace frugal
