// Cox's partial likelihood, for times until an event that not every row has had.
#pragma once

#include "loss/losses.hpp"

namespace frugal {

// y is the time of a row, positive; with a minus sign, the row was watched so long without an event. Equal times are
// treated as by Breslow: then a weight of k is k equal rows.
class Cox final : public Loss {
 public:
  bool rowwise() const override { return false; }  // a row's loss depends on all rows that are at risk at its time
  std::vector<double> start(const Target& target, Context& context) override;
  double mean(const Target& target, const double* raw, Context& context) override;
  void derivatives(const Target& target, const double* raw, size_t k, double* g, double* h, Context& context) override;
  double step_limit() const override { return 10.0; }

 private:
  // What follows from the times of some rows.
  struct Times {
    const Weights* weights;
    const double* y;
    std::vector<Row> place;            // of each row's time among all different times, ascending
    std::vector<std::int64_t> events;  // by time: the weight of rows with an event, in units
  };
  // What follows from their raw predictions too.
  struct AtRisk {
    double largest;              // raw prediction; risks are shares of its exponential
    std::vector<double> share;   // by row: exp(raw - largest), on a grid
    std::vector<double> weight;  // by time: the sum of weight times share of all rows with this time or a later one
  };

  const Times& times_of(const Target& target, Context& context);
  AtRisk at_risk(const Target& target, const Times& times, const double* raw, Context& context) const;

  std::vector<Times> times_;  // of training rows and of validation rows
};

}  // namespace frugal
