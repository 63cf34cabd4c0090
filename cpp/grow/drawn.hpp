// What the trees of an iteration see: which rows, and which columns.
#pragma once

#include <vector>

#include "data/params.hpp"
#include "engine/engine.hpp"

namespace frugal {

struct Drawn {
  RowDraw rows;
  std::vector<std::uint8_t> columns;  // a flag for each; empty: all

  bool all() const { return rows.all() && columns.empty(); }
};

// How many columns Params::max_features means; all of them if it is 0.
size_t columns_to_draw(double max_features, size_t columns);

// What is drawn in an iteration: it follows from the seed and the number of iterations before, and nothing else.
Drawn drawn(const Params& params, size_t columns, std::uint64_t iteration);

}  // namespace frugal
