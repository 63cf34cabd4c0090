// Which rows of a large table thresholds are found from.
//
// A hash of its number in the whole table gives each row a level: l or more with probability 2^-l. Rows from some level
// on are a sample, whatever parts and batches they come in. Of a column are used the rows from the level that the
// number of rows asks for, or from a lower one if too few of them have a value that is neither missing nor zero.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "support/mixing.hpp"
#include "support/types.hpp"

namespace frugal {

inline constexpr size_t kRowLevels = 17;  // as many rows as a table can have need no more

struct SampleRule {
  size_t most;  // rows, at least 1: from tables of more rows, a sample of half as many or more is taken

  size_t level(size_t rows) const {
    size_t level = 0;
    while (level + 1 < kRowLevels && most << level < rows) ++level;
    return level;
  }
  size_t enough() const { return std::max<size_t>(1, most / 4); }  // values of a column

  // The level from which a column's rows are used; listed[l] of its values in rows of level l are not zero.
  size_t level(size_t rows, const std::array<size_t, kRowLevels>& listed) const {
    size_t from = level(rows), have = 0;
    for (size_t l = from; l < kRowLevels; ++l) have += listed[l];
    while (from > 0 && have < enough()) have += listed[--from];
    return from;
  }
};

inline size_t level_of_row(std::uint64_t number, size_t highest) {
  return std::min(index(std::countl_zero(mixed((number + 1) * kMixStep))), highest);
}

// The levels of some rows, which never need to be told apart above `highest`, and how much those of each level weigh.
struct RowLevels {
  // `number(i)`: of row i in the whole table. `units`: the weight of each row; nullptr: all are 1.
  template <class NumberOf>
  RowLevels(size_t rows, const NumberOf& number, const std::int64_t* units, size_t highest) : of(rows) {
    for (size_t i = 0; i < rows; ++i) {
      of[i] = narrow<std::uint8_t>(level_of_row(number(i), highest));
      weight[of[i]] += units ? units[i] : 1;
    }
  }

  std::vector<std::uint8_t> of;
  std::array<std::int64_t, kRowLevels> weight{};
};

}  // namespace frugal
