// Sums over the parts of a table. A table may be split into parts, each held by a process or thread of its own that
// runs the same code; whatever is summed over rows is summed over all parts here. All sums are of integers, so neither
// the order nor the number of parts changes them. With a single part (`alone`) nothing is exchanged.
//
// Every part must make the same calls in the same order. So what to sum may depend on sums over all parts, but never on
// the rows of one part.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "support/types.hpp"

namespace frugal {

// The other parts have stopped, or made a different call.
struct PartsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Together {
 public:
  virtual ~Together() = default;
  virtual size_t part() const = 0;  // the number of this one
  virtual size_t parts() const = 0;
  bool alone() const { return parts() == 1; }

  // Replaces each value by its sum, or its maximum, over all parts. `what` names the values in error messages, and must
  // be the same in all parts.
  virtual void sum(std::span<std::int64_t> values, const char* what) = 0;
  virtual void largest(std::span<double> values, const char* what) = 0;
  // Both at once: one message where messages are what takes time.
  virtual void sum_and_largest(std::span<std::int64_t> sums, std::span<double> most, const char* what) {
    sum(sums, what);
    largest(most, what);
  }
};

// For a table in one piece.
Together& alone();

std::int64_t sum_of(Together& together, std::int64_t value, const char* what);
Int128 sum_of(Together& together, Int128 value, const char* what);
void sum_all(Together& together, std::span<Int128> values, const char* what);
// A sum and several maxima.
void sum_and_largest(Together& together, Int128& sum, std::span<double> most, const char* what);
double largest_of(Together& together, double value, const char* what);
// The list of each part, in the order of parts.
std::vector<std::vector<std::int64_t>> gathered(Together& together, std::span<const std::int64_t> own,
                                                const char* what);

}  // namespace frugal
