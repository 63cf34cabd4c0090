// Losses of one output that are formulas of y and the raw prediction f: the value, the negative gradient g and the
// curvature h. Processors and other devices compile the same text, and get the same bits.
#pragma once

#include "support/anywhere.hpp"
#include "support/portable_math.hpp"

namespace frugal {

struct SquaredErrorFormula {
  FRUGAL_ANYWHERE double value(double y, double f) const {
    double r = y - f;
    return 0.5 * r * r;
  }
  FRUGAL_ANYWHERE void derivative(double y, double f, double& g, double& h) const {
    g = y - f;
    h = 1.0;
  }
};

struct QuantileFormula {
  double level;

  FRUGAL_ANYWHERE double value(double y, double f) const {
    double r = y - f;
    return r > 0 ? level * r : (level - 1.0) * r;
  }
  FRUGAL_ANYWHERE void derivative(double y, double f, double& g, double& h) const {
    double r = y - f;
    g = r > 0 ? level : r < 0 ? level - 1.0 : 0.0;
    h = 1.0;
  }
};

struct AbsoluteErrorFormula {
  FRUGAL_ANYWHERE double value(double y, double f) const { return std::fabs(y - f); }
  FRUGAL_ANYWHERE void derivative(double y, double f, double& g, double& h) const {
    double r = y - f;
    g = r > 0 ? 1.0 : r < 0 ? -1.0 : 0.0;
    h = 1.0;
  }
};

// Quadratic up to delta, linear beyond. The curvature is that of the parabola that touches the loss and is nowhere
// below it, so a full Newton step never overshoots.
struct HuberFormula {
  double delta;

  FRUGAL_ANYWHERE double value(double y, double f) const {
    double r = y - f, a = std::fabs(r);
    return a <= delta ? 0.5 * r * r : delta * (a - 0.5 * delta);
  }
  FRUGAL_ANYWHERE void derivative(double y, double f, double& g, double& h) const {
    double r = y - f, a = std::fabs(r);
    g = a <= delta ? r : r > 0 ? delta : -delta;
    h = a <= delta ? 1.0 : delta / a;
  }
};

// For counts, with a log link. The value omits the term that depends only on y.
struct PoissonFormula {
  FRUGAL_ANYWHERE double value(double y, double f) const { return portable_exp(f) - y * f; }
  FRUGAL_ANYWHERE void derivative(double y, double f, double& g, double& h) const {
    h = portable_exp(f);
    g = y - h;
  }
};

// For positive numbers whose spread grows with their mean, with a log link. The value omits the terms that depend only
// on y.
struct GammaFormula {
  FRUGAL_ANYWHERE double value(double y, double f) const { return y * portable_exp(-f) + f; }
  FRUGAL_ANYWHERE void derivative(double y, double f, double& g, double& h) const {
    h = y * portable_exp(-f);
    g = h - 1.0;
  }
};

// Between Poisson (power 1) and gamma (power 2): sums of a random number of positive amounts, often zero. With a log
// link; the value omits the term that depends only on y.
struct TweedieFormula {
  double to_two, to_one;  // 2 - power and 1 - power

  FRUGAL_ANYWHERE double value(double y, double f) const {
    return portable_exp(to_two * f) / to_two - y * portable_exp(to_one * f) / to_one;
  }
  FRUGAL_ANYWHERE void derivative(double y, double f, double& g, double& h) const {
    const double mean = portable_exp(to_two * f), own = y * portable_exp(to_one * f);
    g = own - mean;
    h = to_two * mean - to_one * own;
  }
};

}  // namespace frugal
