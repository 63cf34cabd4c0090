// The raw predictions of all rows, and the mean, gradients and curvatures of the loss at them.
#pragma once

#include <optional>
#include <vector>

#include "data/binning.hpp"
#include "engine/cpu/gradients.hpp"
#include "loss/losses.hpp"

namespace frugal {

// A table in bins with its target.
struct Sample {
  const BinnedMatrix& X;
  Target target;
};

// Raw predictions of an earlier model, output after output.
struct RawPredictions {
  std::vector<double> train, validation;
};

class Predictions {
 public:
  Predictions(const Target& train, const Sample* validation, Loss& loss, RawPredictions before, Context& context);

  void set(std::span<const double> constants);
  void set_as_before();
  Losses losses();
  void derive();
  AllGradients gradients() const { return gradients_; }
  double impurity(size_t output) const { return gradients_[output].impurity(*train_.weights, context_); }
  Moved moved(std::span<const double> full, std::span<const double> step);

  // An upper bound on how far the gradients have moved since the last call; infinite in the first call.
  double move(size_t output);

  // The derivatives of an output at the raw predictions of the last `derive`.
  const Derivatives& derived(size_t output);
  OutputScale scale(size_t output) const { return loss_.scale(output); }
  double* raw(size_t output) { return raw_.data() + output * train_.rows(); }
  const Sample* validation() const { return validation_; }
  double* validation_raw(size_t output) { return validation_raw_.data() + output * validation_->target.rows(); }
  std::span<const double> validation_raw() const { return validation_raw_; }
  // Adds a tree to the predictions of validation rows.
  void add_to_validation(size_t output, const Tree& tree);

 private:
  Derivatives& derive(size_t output);
  void set_gradients(std::span<const double> g, double largest, size_t output, GridGradients& out);

  const Target& train_;
  const Sample* validation_;
  Loss& loss_;
  RawPredictions before_;
  Context& context_;
  std::vector<GridGradients> gradients_;  // by output
  std::vector<Derivatives> d_;            // by output, or only those of the last output
  bool at_hand_ = false;                  // d_[0] belongs to the raw predictions as they are now
  std::vector<double> raw_, validation_raw_;
  struct Earlier {
    bool known = false;
    std::vector<std::int32_t> q;
    int shift = 0;
  };
  double fast_move(Earlier& from, const GridGradients& to) const;
  std::vector<Earlier> earlier_;  // gradients in the last call of `move`, by output
};

}  // namespace frugal
