// Rows with the same bins, the same target and the same raw prediction stay equal while trees are grown. They are
// merged into one row with the sum of their weights. The model is the same to the last bit, since all sums are exact.
#pragma once

#include <memory>
#include <vector>

#include "data/binning.hpp"
#include "data/target.hpp"

namespace frugal {

struct MergedRows {
  std::unique_ptr<BinnedMatrix> X;
  std::vector<double> y, raw;  // raw as given, output after output
  Weights weights;
};

// nullptr if fewer than half of the rows would go, or if the table is small. `raw` may be empty.
std::unique_ptr<MergedRows> merge_equal_rows(const BinnedMatrix& X, const Target& target, std::span<const double> raw,
                                             Context& context);

}  // namespace frugal
