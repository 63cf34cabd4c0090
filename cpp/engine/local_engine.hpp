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
};

}  // namespace frugal
