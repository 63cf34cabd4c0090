// Where the values of a table come from, for whoever walks through trees: any storage, one column of some rows at a
// time.
#pragma once

#include "support/types.hpp"

namespace frugal {

class Source {
 public:
  virtual ~Source() = default;
  virtual size_t rows() const = 0;
  virtual size_t columns() const = 0;
  // Writes the values of rows [begin, end) of one column; NaN where missing.
  virtual void read(size_t column, size_t begin, size_t end, double* out) const = 0;
};

}  // namespace frugal
