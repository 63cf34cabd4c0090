// A key for each row that follows from its bins alone: not from its place, nor from how columns are stored.
#pragma once

#include <vector>

#include "data/binning.hpp"

namespace frugal {

// The sum over columns of a random number for the row's bin, modulo 2^64. The first bin of a column counts 0, so that
// columns with one value change nothing.
std::vector<std::uint64_t> row_keys(const BinnedMatrix& X, Context& context);

}  // namespace frugal
