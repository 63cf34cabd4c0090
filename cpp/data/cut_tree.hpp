// Thresholds in the form in which vector instructions search them.
#pragma once

#include "data/table.hpp"
#include "support/bin_search.hpp"

namespace frugal {

// A tree for values of this type. It looks at the thresholds, which must outlive it.
CutTree cut_tree(std::span<const double> cuts, Element element);

// Writes the bins of rows [begin, end) of a column, whose tree this is; at most kBinRows of them. Returns whether a
// value is missing.
inline constexpr size_t kBinRows = 256;
bool bins_of(const Column& column, size_t begin, size_t end, const CutTree& tree, std::uint8_t* out);

}  // namespace frugal
