#include "data/sparse.hpp"

#include <algorithm>
#include <string>

namespace frugal {

void SparseTable::check(size_t stored) const {
  auto fail = [](const std::string& what) {
    throw std::invalid_argument("The sparse matrix is damaged: " + what + ".");
  };
  if (whole(begins_, begin_type_, 0) != 0) fail("its index pointer does not start at 0");
  for (size_t c = 0; c < columns_; ++c)
    if (whole(begins_, begin_type_, c + 1) < whole(begins_, begin_type_, c)) fail("its index pointer decreases");
  if (whole(begins_, begin_type_, columns_) != narrow<std::int64_t>(stored))
    fail("its index pointer does not end at the number of stored values");
  for (size_t c = 0; c < columns_; ++c) {
    std::int64_t last = -1;
    for (size_t i = begin_of(c); i < begin_of(c + 1); ++i) {
      const std::int64_t row = whole(indices_, index_type_, i);
      if (row < 0 || row >= narrow<std::int64_t>(rows_))
        fail("column " + std::to_string(c) + " has a value in row " + std::to_string(row) + ", but there are " +
             std::to_string(rows_) + " rows");
      if (row <= last) fail("the rows of column " + std::to_string(c) + " do not ascend");
      last = row;
    }
  }
}

void SparseTable::read(size_t column, size_t begin, size_t end, double* out) const {
  std::fill_n(out, end - begin, 0.0);
  size_t low = begin_of(column), high = begin_of(column + 1);
  const size_t last = high;
  while (low < high) {  // the first stored row that is not before `begin`
    const size_t middle = low + (high - low) / 2;
    if (whole(indices_, index_type_, middle) < narrow<std::int64_t>(begin)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  as_elements(values_, value_type_, [&](const auto* values) {
    for (size_t i = low; i < last; ++i) {
      const auto row = index(whole(indices_, index_type_, i));
      if (row >= end) break;
      out[row - begin] = values[i];
    }
  });
}

}  // namespace frugal
