// Losses, their derivatives, and gradients on their grid.
#pragma once

#include "loss/formulas.hpp"
#include "numbers.hpp"

namespace frugal::device {

struct Nothing {};

template <class B>
FRUGAL_DEVICE void run(const Fill& a, B& block, Nothing&) {
  block.each([&](int t) {
    for (Word i = Word{block.number()} * B::kThreads + t; i < a.count; i += Word{block.count()} * B::kThreads)
      a.out[i] = a.value;
  });
}

template <class B>
FRUGAL_DEVICE void run(const Shift& a, B& block, Nothing&) {
  typename B::template PerThread<std::int64_t> changed;
  block.each([&](int t) {
    for (Word i = Word{block.number()} * B::kThreads + t; i < a.count; i += Word{block.count()} * B::kThreads) {
      const double v = a.from[i];
      changed[t] += v + a.step != v;
      a.out[i] = v + a.full;
    }
  });
  add_sum(block, changed, a.changed);
}

// Value and derivatives of a loss that is a formula of y and one raw prediction.
struct PointLoss {
  double value, g, h;
};

template <class Of>
FRUGAL_DEVICE PointLoss point_of(const Of& formula, double y, double f) {
  PointLoss out;
  out.value = formula.value(y, f);
  formula.derivative(y, f, out.g, out.h);
  return out;
}

FRUGAL_DEVICE PointLoss logistic(double y, double f) {
  const double top = f > 0.0 ? f : 0.0, magnitude = f > 0.0 ? f : -f;
  const double e = portable_exp(-magnitude);
  const double most = 1.0 / (1.0 + e), least = e * most;
  const double one = f > 0.0 ? most : least, zero = f > 0.0 ? least : most;
  return {(top - y * f) + portable_log(1.0 + e), y > 0.5 ? zero : -one, most * least};
}

FRUGAL_DEVICE PointLoss point_loss(const LossFormula& loss, double y, double f) {
  switch (loss.formula) {
    case Formula::logistic:
      return logistic(y, f);
    case Formula::squared:
      return point_of(SquaredErrorFormula{}, y, f);
    case Formula::absolute:
      return point_of(AbsoluteErrorFormula{}, y, f);
    case Formula::quantile:
      return point_of(QuantileFormula{loss.first}, y, f);
    case Formula::huber:
      return point_of(HuberFormula{loss.first}, y, f);
    case Formula::poisson:
      return point_of(PoissonFormula{}, y, f);
    case Formula::gamma:
      return point_of(GammaFormula{}, y, f);
    case Formula::tweedie:
      return point_of(TweedieFormula{loss.first, loss.second}, y, f);
    default:
      return {0.0, 0.0, 0.0};
  }
}

// log(sum over outputs of exp(raw)). Exponentials are added as whole numbers, so the order of outputs does not matter.
FRUGAL_DEVICE double log_sum_exp(const double* raw, Word rows, std::uint32_t outputs, Word row) {
  constexpr double kMagic = 6755399441055744.0, kScale = 0x1p50;
  double top = raw[row];
  for (std::uint32_t k = 1; k < outputs; ++k) top = raw[k * rows + row] > top ? raw[k * rows + row] : top;
  std::int64_t total = 0;
  for (std::uint32_t k = 0; k < outputs; ++k)
    total += bits_as<std::int64_t>(portable_exp(raw[k * rows + row] - top) * kScale + kMagic) -
             bits_as<std::int64_t>(kMagic);
  return top + portable_log(real(total) * (1.0 / kScale));
}

// A value on the grid of losses, where values up to 2^88 count; larger ones mean that the grid does not fit.
FRUGAL_DEVICE Int128 loss_on_grid(const NumberGrid& grid, double value) {
  constexpr double kLow = 0x1p40, kPerLow = 0x1p-40;
  const double v = grid.plain ? value * grid.scale : ldexp(value, grid.shift);
  if (!(v < 0x1p88 && v > -0x1p88)) return 0;
  const std::int64_t above = truncated<std::int64_t>(v * kPerLow);
  return (Int128{above} << 40) + llrint(v - real(above) * kLow);
}

template <class B>
FRUGAL_DEVICE void run(const LossOfRows& a, B& block, Nothing&) {
  typename B::template PerThread<Int128> sum;
  typename B::template PerThread<std::int64_t> most, most_g, most_h;
  const bool softmax = a.loss.formula == Formula::softmax;
  const Word first = Word{block.number()} * B::kThreads, step = Word{block.count()} * B::kThreads;
  block.each([&](int t) {
    for (Word i = first + t; i < a.rows; i += step) {
      const double y = a.y[i];
      PointLoss point{0.0, 0.0, 0.0};
      if (softmax) {
        a.log_sum[i] = log_sum_exp(a.raw, a.rows, a.outputs, i);
        point.value = a.log_sum[i] - a.raw[truncated<Word>(y) * a.rows + i];
      } else {
        point = point_loss(a.loss, y, a.raw[i]);
      }
      sum[t] += unit_of(a.units, i) * loss_on_grid(a.grid, point.value);
      const auto magnitude = low_bits<std::int64_t>(magnitude_bits(point.value));
      most[t] = most[t] > magnitude ? most[t] : magnitude;
      if (softmax || !a.g) continue;
      a.g[i] = point.g;
      a.h[i] = point.h;
      const auto g = low_bits<std::int64_t>(magnitude_bits(point.g));
      const auto h = low_bits<std::int64_t>(magnitude_bits(point.h));
      most_g[t] = most_g[t] > g ? most_g[t] : g;
      most_h[t] = most_h[t] > h ? most_h[t] : h;
    }
  });
  add_wide(block, sum, a.out);
  raise(block, most, a.out + LossOfRows::kLargest);
  if (!a.g) return;
  for (std::uint32_t k = 0; k < a.outputs; ++k) {
    if (softmax)
      block.each([&](int t) {
        most_g[t] = most_h[t] = 0;
        for (Word i = first + t; i < a.rows; i += step) {
          const double p = portable_exp(a.raw[k * a.rows + i] - a.log_sum[i]);
          const double g = (a.y[i] == real(k) ? 1.0 : 0.0) - p, h = p * (1.0 - p);
          a.g[k * a.rows + i] = g;
          a.h[k * a.rows + i] = h;
          const auto bits_g = low_bits<std::int64_t>(magnitude_bits(g));
          const auto bits_h = low_bits<std::int64_t>(magnitude_bits(h));
          most_g[t] = most_g[t] > bits_g ? most_g[t] : bits_g;
          most_h[t] = most_h[t] > bits_h ? most_h[t] : bits_h;
        }
      });
    raise(block, most_g, a.out + LossOfRows::kOfOutput + 2 * k);
    raise(block, most_h, a.out + LossOfRows::kOfOutput + 2 * k + 1);
  }
}

FRUGAL_DEVICE std::int64_t moved_to(std::int32_t q, std::int32_t up, std::int32_t down) {
  const std::int64_t v = low_bits<std::int64_t>(low_bits<Word>(std::int64_t{q}) << up);
  return down == 0 ? v : (v + (std::int64_t{1} << (down - 1))) >> down;
}

FRUGAL_DEVICE std::int64_t change_of(const CommonGrid& common, std::int32_t from, std::int32_t to) {
  return moved_to(to, common.to_up, common.to_down) - moved_to(from, common.from_up, common.from_down);
}

template <class B>
FRUGAL_DEVICE void run(const Quantize& a, B& block, Nothing&) {
  constexpr std::int64_t kMiddle = std::int64_t{1} << 31;
  typename B::template PerThread<std::int64_t> total, lowest, highest;
  typename B::template PerThread<Int128> squares, moved, squared_move;
  block.each([&](int t) {
    for (Word i = Word{block.number()} * B::kThreads + t; i < a.rows; i += Word{block.count()} * B::kThreads) {
      const std::int64_t q = on_grid(a.grid, a.g[i]), unit = unit_of(a.units, i);
      a.q[i] = low_bits<std::int32_t>(q);
      total[t] += unit * q;
      squares[t] += Int128{unit} * (q * q);
      if (a.earlier) {
        const Int128 change = change_of(a.common, a.earlier[i], low_bits<std::int32_t>(q));
        moved[t] += unit * change;
        squared_move[t] += unit * (change * change);
      }
      lowest[t] = lowest[t] > kMiddle - q ? lowest[t] : kMiddle - q;
      highest[t] = highest[t] > kMiddle + q ? highest[t] : kMiddle + q;
    }
  });
  add_sum(block, total, a.out + Quantize::kTotal);
  raise(block, lowest, a.out + Quantize::kLowest);
  raise(block, highest, a.out + Quantize::kHighest);
  add_wide(block, squares, a.out + Quantize::kSquares);
  if (!a.earlier) return;
  add_wide(block, moved, a.out + Quantize::kMoved);
  add_wide(block, squared_move, a.out + Quantize::kSquaredMove);
}

template <class B>
FRUGAL_DEVICE void run(const Change& a, B& block, Nothing&) {
  typename B::template PerThread<Int128> sum, squares;
  block.each([&](int t) {
    for (Word i = Word{block.number()} * B::kThreads + t; i < a.rows; i += Word{block.count()} * B::kThreads) {
      const std::int64_t change = change_of(a.common, a.from[i], a.to[i]);
      const Int128 unit = unit_of(a.units, i), rest = change - a.mean;
      sum[t] += unit * change;
      squares[t] += unit * (rest * rest);
    }
  });
  add_wide(block, sum, a.out);
  add_wide(block, squares, a.out + kWideWords);
}

template <class B>
FRUGAL_DEVICE void run(const Combine& a, B& block, Nothing&) {
  typename B::template PerThread<std::int64_t> most;
  block.each([&](int t) {
    for (Word i = Word{block.number()} * B::kThreads + t; i < a.rows; i += Word{block.count()} * B::kThreads) {
      std::int64_t sum = 0;
      for (std::uint32_t k = 0; k < a.outputs; ++k)
        if (a.signs[k] != 0) sum += a.signs[k] * on_grid(a.grid, a.g[k * a.rows + i]);
      const double total = ldexp(real(sum), -a.grid.shift) / a.length;
      a.out[i] = total;
      const auto magnitude = low_bits<std::int64_t>(magnitude_bits(total));
      most[t] = most[t] > magnitude ? most[t] : magnitude;
    }
  });
  raise(block, most, a.largest);
}

template <class B>
FRUGAL_DEVICE void run(const Probe& a, B& block, Nothing&) {
  for (std::uint32_t k = 0; k < a.outputs; ++k) {
    typename B::template PerThread<std::int64_t> sum;
    block.each([&](int t) {
      for (Word i = Word{block.number()} * B::kThreads + t; i < a.rows; i += Word{block.count()} * B::kThreads) {
        const std::int64_t q = a.q[k * a.rows + i];
        sum[t] += unit_of(a.units, i) * (mixed(a.keys[i] + a.number) & 1 ? -q : q);
      }
    });
    add_sum(block, sum, a.out + k);
  }
}

}  // namespace frugal::device
