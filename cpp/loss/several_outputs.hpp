// A loss for each column of y, brought to a common scale.
#pragma once

#include "loss/losses.hpp"

namespace frugal {

// Outputs may be in any units: one in grams must not outweigh another in tons. Gradients and curvatures are those of
// the output's own loss, so that leaves are too. What is compared or added over outputs is put on a common scale, which
// is found at the best constant: gradients are divided by their spread, losses by what a step of that size would
// change.
class SeveralOutputs final : public Loss {
 public:
  explicit SeveralOutputs(std::vector<std::unique_ptr<Loss>> own)
      : own_(std::move(own)), search_scale_(own_.size()), loss_scale_(own_.size()) {}

  size_t outputs() const override { return own_.size(); }
  bool rowwise() const override;
  std::vector<double> start(const Target& target, Context& context) override;
  double mean(const Target& target, const double* raw, Context& context) override;
  void derivatives(const Target& target, const double* raw, size_t k, double* g, double* h, Context& context) override;
  OutputScale scale(size_t k) const override { return {search_scale_[k], loss_scale_[k] / real(own_.size())}; }
  double step_limit() const override { return own_[0]->step_limit(); }
  double leaf_quantile() const override { return own_[0]->leaf_quantile(); }

 private:
  void find_scales(size_t k, const Target& target, double start, Context& context);

  std::vector<std::unique_ptr<Loss>> own_;         // by output
  std::vector<double> search_scale_, loss_scale_;  // 0: the output is constant, so there is nothing to be found
};

}  // namespace frugal
