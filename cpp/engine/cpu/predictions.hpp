// Raw predictions of all rows, and what the loss makes of them: its mean, gradients and curvatures.
#pragma once

#include <optional>
#include <vector>

#include "data/binning.hpp"
#include "engine/cpu/gradients.hpp"
#include "loss/losses.hpp"

namespace frugal {

// A table in bins with what is to be predicted.
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

  // How far gradients have moved since this was asked last; at least, and infinite at first.
  double move(size_t output);

  // Derivatives of an output, as they were when gradients were derived.
  const Derivatives& derived(size_t output);
  double* raw(size_t output) { return raw_.data() + output * train_.rows(); }
  // Adds a tree to the predictions of validation rows.
  void add_to_validation(size_t output, const Tree& tree);

 private:
  Derivatives& derive(size_t output);

  const Target& train_;
  const Sample* validation_;
  Loss& loss_;
  RawPredictions before_;
  Context& context_;
  std::vector<GridGradients> gradients_;  // by output
  std::vector<Derivatives> d_;            // by output, or of one
  bool at_hand_ = false;                  // the first are those of the raw predictions as they are now
  std::vector<double> raw_, validation_raw_;
  struct Earlier {
    bool known = false;
    std::vector<std::int32_t> q;
    int shift = 0;
  };
  double fast_move(Earlier& from, const GridGradients& to) const;
  std::vector<Earlier> earlier_;  // gradients when `move` was asked last, by output
};

}  // namespace frugal
