// An engine of this process, which has the rows itself.
#pragma once

#include "engine/engine.hpp"

namespace frugal {

struct EngineOptions {
  double min_samples_leaf = 20;
  std::uint64_t seed = 0;  // of the sample of rows for screening
};

class LocalEngine : public Engine {
 public:
  // The raw predictions of the validation rows, output after output.
  virtual std::span<const double> validation_raw() = 0;
  // Before boosting: which rows have looked at columns in an earlier fit; flags of all rows, column after column.
  virtual void remember(std::span<const size_t> columns, std::span<const std::uint8_t> flags) = 0;
};

}  // namespace frugal
