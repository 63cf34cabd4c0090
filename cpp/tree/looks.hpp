// Which features the paths of rows through a model look at, and what rows pay for them.
#pragma once

#include "tree/predict.hpp"

namespace frugal {

// Whether a row's path through trees [0, last) looks at a column: for all rows, column after column.
std::vector<std::uint8_t> looked_rows(const EnsembleView& model, const Source& X, std::span<const size_t> columns,
                                      size_t last, Context& context);

// The prices of the features that a row looks at, each paid once. Means have the weights of the rows; empty: 1 each.
PathPrices row_costs(const EnsembleView& model, const Source& X, std::span<const double> prices,
                     std::span<const double> weights, size_t last, Context& context);

}  // namespace frugal
