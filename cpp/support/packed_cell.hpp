// A histogram cell in one 64-bit word: the gradient sum in the high bits, the row count in the low kCountBits. One
// addition adds a row to both. Internal linkage, as in convert.hpp.
#pragma once

#include <cstdint>

#include "support/limits.hpp"

namespace frugal {

static inline std::int64_t packed_cell(std::int64_t gradient, std::int64_t count) {
  return (gradient << kCountBits) + count;
}
static inline std::int64_t packed_row(std::int32_t q) {
  return packed_cell(q, 1);
}
static inline std::int64_t packed_gradient(std::int64_t cell) {
  return cell >> kCountBits;
}
static inline std::int64_t packed_count(std::int64_t cell) {
  return cell & kCountMask;
}

}  // namespace frugal
