// The values of a table, however they are stored: one column of some rows at a time. Predictions read their input
// through it.
#pragma once

#include "support/types.hpp"

namespace frugal {

class Source {
 public:
  virtual ~Source() = default;
  virtual size_t rows() const = 0;
  virtual size_t columns() const = 0;
  // Writes the values of rows [begin, end) of one column; missing values are NaN.
  virtual void read(size_t column, size_t begin, size_t end, double* out) const = 0;
};

}  // namespace frugal
