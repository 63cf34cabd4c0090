// The distinct values of a column, as long as they are few.
#pragma once

#include <vector>

#include "support/types.hpp"

namespace frugal {

class FewValues {
 public:
  static constexpr size_t kMost = 255;  // as many as there may be bins

  FewValues() = default;
  explicit FewValues(std::vector<double> ascending) : values_(std::move(ascending)) {}

  // Missing values are left out, and those of no weight. `units`: nullptr if every row weighs something.
  void add(std::span<const double> values, const std::int64_t* units);
  void add(const FewValues& others);
  void add(double value);
  // Whether a value may be new.
  bool any_new(std::span<const double> values) const;

  bool too_many() const { return too_many_; }
  std::span<const double> values() const { return values_; }  // ascending

  // As numbers that can be sent to another part of the table.
  std::vector<std::int64_t> packed() const;
  static FewValues unpacked(std::span<const std::int64_t> packed);

 private:
  bool too_many_ = false;
  std::vector<double> values_;
};

}  // namespace frugal
