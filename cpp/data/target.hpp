// What is to be predicted, and the weight of each row.
#pragma once

#include "support/fixed_point.hpp"
#include "support/together.hpp"

namespace frugal {

// Sample weights in integer units; without weights every row counts one unit.
struct Weights {
  std::vector<std::int64_t> units;  // by row; empty without weights
  int shift = 0;                    // weight = unit * 2^-shift
  std::int64_t total = 0;           // units of all parts of the table
  std::int64_t rows = 0;            // of all parts of the table
  bool weighted = false;            // rows have units of their own
  bool given = false;               // because the user gave weights; otherwise units are counts of equal rows

  std::int64_t unit(size_t row) const { return weighted ? units[row] : 1; }
  bool uniform() const { return !weighted; }

  // `weighted`: whether rows have weights at all, which is unknown to a part without rows.
  static Weights from(std::span<const double> weights, size_t n_rows, bool weighted, Together& together = alone());
};

// Class codes 0, 1, ... or numbers; numbers may have several columns, which lie one after another.
struct Target {
  std::span<const double> y;
  const Weights* weights;
  size_t columns = 1;

  size_t rows() const { return y.size() / columns; }
  // What an output is to predict: its own column, or the only one.
  std::span<const double> of(size_t output) const { return columns == 1 ? y : y.subspan(output * rows(), rows()); }
};

// What makes the columns of y count alike, whatever their units.
struct OutputScale {
  double search = 1.0;  // what the gradients of an output are multiplied by where splits and lines are searched
  double loss = 1.0;    // what its own loss counts in the mean loss
};

}  // namespace frugal
