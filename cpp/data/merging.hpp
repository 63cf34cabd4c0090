// Rows that are alike in every bin, in what is to be predicted and in their raw prediction stay alike as long as trees
// are grown: they are kept once, with the sum of their weights. The model is the same to the last bit, since all sums
// are exact; only the recorded training loss is added up in another order.
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

// Nothing where fewer than half of the rows would go, or the table is small. `raw` may be empty.
std::unique_ptr<MergedRows> merge_equal_rows(const BinnedMatrix& X, const Target& target, std::span<const double> raw,
                                             Context& context);

}  // namespace frugal
