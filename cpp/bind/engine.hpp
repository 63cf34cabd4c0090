// Engines in Python.
#pragma once

#include "bind/python.hpp"
#include "data/merging.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "engine/cuda/device.hpp"
#include "support/thread_parts.hpp"

namespace frugal {

// An engine written in Python: any object with the methods of Engine. The tests have a plain and slow one.
std::unique_ptr<Engine> python_engine(nb::object object);

// A table with its target and weights.
struct PySample {
  const BinnedMatrix& X;
  Doubles y;
  Weights weights;
  size_t targets;
  PySample(const BinnedMatrix& binned, const Doubles& target, const std::optional<Doubles>& w, size_t columns,
           Together& together);
  Sample sample() const { return {X, {span_of<double>(y), &weights, targets}}; }
};

// The CPU engine, or that of a GPU, with everything that it refers to.
class PyCpuEngine {
 public:
  struct Rows {
    const BinnedMatrix& X;
    Doubles y;
    std::optional<Doubles> weights, raw;  // raw: predictions to continue from, output after output
  };
  // `merge`: equal rows are merged where they are many, which must not be where rows are drawn.
  // `targets`: columns of y, which lie one after another. `device`: a GPU.
  PyCpuEngine(const Rows& train, const std::optional<Rows>& validation, std::unique_ptr<Loss> loss, size_t targets,
              const EngineOptions& options, int threads, std::shared_ptr<ThreadPart> part, bool merge,
              std::shared_ptr<const device::Device> device);

  Engine& engine() { return *engine_; }
  std::span<const double> validation_raw() { return engine_->validation_raw(); }
  size_t rows() const { return train_->X.rows(); }
  void remember(std::span<const size_t> columns, std::span<const std::uint8_t> flags) {
    engine_->remember(columns, flags);
  }
  // How far Python has come, when it takes the steps one by one.
  enum class Step { made, predicted, judged, derived, growing, searching };
  Step step = Step::made;
  size_t level_size = 0;  // number of nodes
  size_t trees = 0;       // that grow together
  bool can_continue() const { return has_raw_; }
  bool rows_are_merged() const { return merged_ != nullptr; }
  Context& context() { return context_; }
  // Stops the other parts of the table.
  void leave() {
    if (part_) part_->leave();
  }

 private:
  std::shared_ptr<ThreadPart> part_;
  Context context_;
  std::unique_ptr<Loss> loss_;
  std::optional<PySample> train_, validation_;
  std::optional<Sample> train_sample_, validation_sample_;
  std::unique_ptr<MergedRows> merged_;
  std::unique_ptr<LocalEngine> engine_;
  bool has_raw_ = false;
};

}  // namespace frugal
