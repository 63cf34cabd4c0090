// Who adds up. A table may lie in several parts, each worked on by a process or a thread of its own that runs the same
// code; whatever is summed over rows is summed over all parts here. All sums are of integers, so neither the order nor
// the number of parts can change them. Alone there is nothing to do.
//
// Every part must make the same calls in the same order: what to sum may depend on sums over all parts, never on the
// rows of one.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "support/types.hpp"

namespace frugal {

// The other parts are gone, or do something else.
struct PartsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Together {
 public:
  virtual ~Together() = default;
  virtual size_t part() const = 0;  // which one this is
  virtual size_t parts() const = 0;
  bool alone() const { return parts() == 1; }

  // Replaces each value by its sum, or its largest, over all parts. `what` is the same on all of them.
  virtual void sum(std::span<std::int64_t> values, const char* what) = 0;
  virtual void largest(std::span<double> values, const char* what) = 0;
};

// All rows are here.
Together& alone();

std::int64_t sum_of(Together& together, std::int64_t value, const char* what);
Wide sum_of(Together& together, Wide value, const char* what);
void sum_all(Together& together, std::span<Wide> values, const char* what);
double largest_of(Together& together, double value, const char* what);
// What each part has, in the order of parts.
std::vector<std::vector<std::int64_t>> gathered(Together& together, std::span<const std::int64_t> own,
                                                const char* what);

}  // namespace frugal
