// Histograms and the best split of a column.
#pragma once

#include "engine/constrained_gain.hpp"
#include "numbers.hpp"

namespace frugal::device {

struct Nothing;

template <class B>
FRUGAL_DEVICE void run(const Pack& a, B& block, Nothing&) {
  const Word all = a.rows * a.width;
  block.each([&](int t) {
    for (Word i = Word{block.number()} * B::kThreads + t; i < all; i += Word{block.count()} * B::kThreads) {
      const std::uint32_t lane = low_bits<std::uint32_t>(i % a.width);
      const Word row = a.chosen ? a.chosen[i / a.width] : i / a.width;
      a.out[i] = a.from[lane] ? a.from[lane][row * a.step[lane]] : 0;
    }
  });
}

// The gradient sum in the high bits, the number of rows in the low ones.
inline constexpr int kDeviceCountBits = 18;
inline constexpr std::int64_t kDeviceCountMask = (std::int64_t{1} << kDeviceCountBits) - 1;

struct PackedCells {
  std::uint32_t low[kCells * kTile], high[kCells * kTile];
};

struct WeightedCells {
  PackedCells gradient, weight;
};

FRUGAL_DEVICE void clear(PackedCells& m, std::uint32_t i) {
  m.low[i] = 1u << 31;
  m.high[i] = 0;
}
FRUGAL_DEVICE std::int64_t value_of(const PackedCells& m, std::uint32_t i) {
  return joined(m.low[i], m.high[i]) - (std::int64_t{1} << 31);
}

FRUGAL_DEVICE void clear(WeightedCells& m, std::uint32_t i) {
  clear(m.gradient, i);
  clear(m.weight, i);
}
FRUGAL_DEVICE void add_row(PackedCells& m, std::uint32_t cell, std::int64_t q, const std::int64_t*, Row) {
  add_in_halves(m.low + cell, m.high + cell, low_bits<std::int64_t>(low_bits<Word>(q) << kDeviceCountBits) + 1);
}
FRUGAL_DEVICE void add_row(WeightedCells& m, std::uint32_t cell, std::int64_t q, const std::int64_t* units, Row row) {
  const std::int64_t unit = read(units + row);
  add_in_halves(m.gradient.low + cell, m.gradient.high + cell, unit * q);
  add_in_halves(m.weight.low + cell, m.weight.high + cell, unit);
}

struct CellSums {
  std::int64_t gradient, weight;
};
// Sums of `count` neighbouring banks, `step` apart.
FRUGAL_DEVICE CellSums sums_of(const PackedCells& m, std::uint32_t cell, std::uint32_t step, std::uint32_t count) {
  std::int64_t sum = 0;
  for (std::uint32_t c = 0; c < count; ++c) sum += value_of(m, cell + c * step);
  return {sum >> kDeviceCountBits, sum & kDeviceCountMask};
}
FRUGAL_DEVICE CellSums sums_of(const WeightedCells& m, std::uint32_t cell, std::uint32_t step, std::uint32_t count) {
  CellSums sum{0, 0};
  for (std::uint32_t c = 0; c < count; ++c) {
    sum.gradient += value_of(m.gradient, cell + c * step);
    sum.weight += value_of(m.weight, cell + c * step);
  }
  return sum;
}

// Every thread has a column, and its 32 neighbours have other columns or, where a job has fewer, other rows. So no two
// of them ever meet in a cell or in a bank.
template <class B, class Cells>
FRUGAL_DEVICE void build(const HistogramJob* jobs, const Task* tasks, const std::int64_t* units, B& block, Cells& m) {
  const Task task = tasks[block.number()];
  const HistogramJob job = jobs[task.job];
  block.each([&](int t) {
    for (std::uint32_t i = t; i < job.cells * kTile; i += B::kThreads) clear(m, i);
  });
  constexpr std::uint32_t kWarps = B::kThreads / kTile, kAhead = 4;
  block.each([&](int t) {
    const std::uint32_t bank = t % kTile, lane = bank & (job.width - 1), at_once = kTile / job.width;
    if (!((job.columns >> lane) & 1)) return;
    const std::uint8_t* bins = job.bins + lane;
    const std::uint32_t step = kWarps * at_once;
    std::uint32_t i = task.begin + t / kTile * at_once + bank / job.width;
    for (; i + (kAhead - 1) * step < task.end; i += kAhead * step) {
      Row row[kAhead];
      std::int32_t q[kAhead];
      std::uint32_t bin[kAhead];
#ifdef __CUDACC__
#pragma unroll
#endif
      for (std::uint32_t k = 0; k < kAhead; ++k) row[k] = row_at(job.rows, i + k * step);
#ifdef __CUDACC__
#pragma unroll
#endif
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        q[k] = gradient_at(job.rows, i + k * step, row[k]);
        bin[k] = read(bins + Word{row[k]} * job.step);
      }
#ifdef __CUDACC__
#pragma unroll
#endif
      for (std::uint32_t k = 0; k < kAhead; ++k) add_row(m, bin[k] * kTile + bank, q[k], units, row[k]);
    }
    for (; i < task.end; i += step) {
      const Row row = row_at(job.rows, i);
      add_row(m, std::uint32_t{read(bins + Word{row} * job.step)} * kTile + bank, gradient_at(job.rows, i, row), units,
              row);
    }
  });
  block.each([&](int t) {
    for (std::uint32_t i = t; i < job.cells * kTile; i += B::kThreads) {
      const std::uint32_t bank = i % kTile;
      if (bank >= job.width || !((job.columns >> bank) & 1)) continue;
      const CellSums sums = sums_of(m, i, job.width, kTile / job.width);
      if (sums.weight == 0) continue;
      std::int64_t* out = job.out + Word{i / kTile} * 2 * kTile + 2 * bank;
      atomic_add(reinterpret_cast<Word*>(out), low_bits<Word>(sums.gradient));
      atomic_add(reinterpret_cast<Word*>(out + 1), low_bits<Word>(sums.weight));
    }
  });
}

template <class B>
FRUGAL_DEVICE void run(const Histogram& a, B& block, PackedCells& m) {
  build(a.jobs, a.tasks, nullptr, block, m);
}

template <class B>
FRUGAL_DEVICE void run(const WeightedHistogram& a, B& block, WeightedCells& m) {
  build(a.jobs, a.tasks, a.units, block, m);
}

struct ScanMemory {
  std::int64_t gradient[kCells], weight[kCells];
  std::int64_t sorted_gradient[kCells], sorted_weight[kCells];
  std::uint32_t lowest[kCells];  // the lowest bin of a group of levels; kNoGroup: the bin leads none
};

inline constexpr std::uint32_t kNoGroup = ~0u;

struct ColumnTask {
  std::uint32_t bins;
  bool has_missing;
  std::int64_t missing_gradient, missing_weight;
  std::int64_t gradient, weight;  // of the node
  double min_weight, factor;
  ValueLimits limits;
  int trend;
};

// The gain of splitting the node's sums into `left` and the rest, by the operations of support/kernels.cpp and
// engine/cpu/constrained_scan.cpp; negative: not allowed.
FRUGAL_DEVICE double gain_of(const ColumnTask& c, std::int64_t gradient, std::int64_t weight, bool last,
                             bool constrained) {
  constexpr std::int64_t kExactWeight = std::int64_t{1} << 27;
  const std::int64_t other_gradient = c.gradient - gradient, other_weight = c.weight - weight;
  const double wl = real(weight), wr = real(other_weight);
  if (!(wl >= c.min_weight) || !(wr >= c.min_weight) || weight == 0 || other_weight == 0) return -1.0;
  double numerator;
  if (constrained || c.weight > kExactWeight) {
    numerator = nearest_double(Int128{gradient} * other_weight) - nearest_double(Int128{other_gradient} * weight);
  } else {
    numerator = real(gradient) * wr - real(other_gradient) * wl;
  }
  const double free = (numerator * numerator) / (wl * wr) * c.factor;
  if (!constrained) return free;
  const double gain = constrained_gain({c.gradient, c.weight, c.factor}, {gradient, weight},
                                       {other_gradient, other_weight}, free, last ? 0 : c.trend, c.limits);
  return gain > 0 ? gain : -1.0;
}

// The first bin with the largest gain. Gains are -1 or not negative, so they order like their bits.
struct BestBin {
  std::int64_t bits;
  std::uint32_t bin;
};

template <class B>
FRUGAL_DEVICE BestBin best_bin(B& block, typename B::template PerThread<double>& gains) {
  typename B::template PerThread<std::int64_t> key;
  block.each([&](int t) { key[t] = bits_as<std::int64_t>(gains[t]); });
  const std::int64_t most = block.largest(key);
  block.each(
      [&](int t) { key[t] = bits_as<std::int64_t>(gains[t]) == most ? -std::int64_t{t} : -std::int64_t{kCells}; });
  return {most, low_bits<std::uint32_t>(-block.largest(key))};
}

enum : std::uint32_t { kUnseen = 0, kLeft = 1, kRight = 2 };

template <class B>
FRUGAL_DEVICE FoundSplit scan(const ColumnTask& c, const std::int64_t* gradients, const std::int64_t* weights, B& block,
                              bool constrained) {
  typename B::template PerThread<std::int64_t> gradient, weight;
  typename B::template PerThread<double> gain;
  block.each([&](int t) {
    const bool there = low_bits<std::uint32_t>(t) < c.bins;
    gradient[t] = there ? gradients[t] : 0;
    weight[t] = there ? weights[t] : 0;
  });
  block.sums_up_to(gradient);
  block.sums_up_to(weight);
  block.each([&](int t) {
    const bool there = low_bits<std::uint32_t>(t) < c.bins;
    gain[t] = there ? gain_of(c, gradient[t], weight[t], low_bits<std::uint32_t>(t) + 1 == c.bins, constrained) : -1.0;
  });
  const BestBin right = best_bin(block, gain);
  FoundSplit best{bits_as<double>(right.bits), 0.0, right.bin, kUnseen};
  if (c.missing_weight == 0) return best;
  best.missing = kRight;
  block.each([&](int t) {
    const bool there = low_bits<std::uint32_t>(t) < c.bins;
    gain[t] = there ? gain_of(c, gradient[t] + c.missing_gradient, weight[t] + c.missing_weight,
                              low_bits<std::uint32_t>(t) + 1 == c.bins, constrained)
                    : -1.0;
  });
  const BestBin left = best_bin(block, gain);
  if (left.bits > right.bits || (left.bits == right.bits && left.bin < right.bin))
    best = {bits_as<double>(left.bits), 0.0, left.bin, kLeft};
  return best;
}

// Levels as groups in the order of their mean gradients (data/levels.hpp). Returns how many there are.
template <class B>
FRUGAL_DEVICE std::uint32_t order_levels(const ColumnTask& c, B& block, ScanMemory& m) {
  typename B::template PerThread<std::int64_t> light_gradient, light_weight, first_light, leads;
  auto there = [&](int t) { return low_bits<std::uint32_t>(t) < c.bins && m.weight[t] != 0; };
  auto light = [&](int t) { return there(t) && real(m.weight[t]) < c.min_weight; };
  block.each([&](int t) {
    light_gradient[t] = light(t) ? m.gradient[t] : 0;
    light_weight[t] = light(t) ? m.weight[t] : 0;
    first_light[t] = light(t) ? -std::int64_t{t} : -std::int64_t{kCells};
  });
  const std::int64_t all_gradient = block.sum(light_gradient), all_weight = block.sum(light_weight);
  const int leader = low_bits<int>(-block.largest(first_light));
  block.each([&](int t) {
    leads[t] = there(t) && (t == leader || !light(t));
    m.lowest[t] = leads[t] ? t : kNoGroup;
  });
  const std::uint32_t count = low_bits<std::uint32_t>(block.sum(leads));
  block.each([&](int t) {  // all have looked at the first group's own sums
    if (t != leader) return;
    m.gradient[t] = all_gradient;
    m.weight[t] = all_weight;
  });
  block.each([&](int t) {
    if (m.lowest[t] == kNoGroup) return;
    std::uint32_t rank = 0;
    const Int128 gradient = m.gradient[t], weight = m.weight[t];
    for (std::uint32_t j = 0; j < c.bins; ++j) {
      if (m.lowest[j] == kNoGroup) continue;
      const Int128 theirs = m.gradient[j] * weight, own = gradient * m.weight[j];
      rank += theirs != own ? theirs < own : j < low_bits<std::uint32_t>(t);
    }
    m.sorted_gradient[rank] = m.gradient[t];
    m.sorted_weight[rank] = m.weight[t];
  });
  return count;
}

template <class B>
FRUGAL_DEVICE void load(const ScanJob& job, std::uint32_t place, std::uint32_t cells, B& block, ScanMemory& m) {
  block.each([&](int t) {
    std::int64_t gradient = 0, weight = 0;
    if (low_bits<std::uint32_t>(t) < cells) {
      const Word at = place / kTile * Word{kTileWords} + Word(t) * 2 * kTile + place % kTile * 2;
      gradient = job.cells[at];
      weight = job.cells[at + 1];
      if (job.minus) {
        gradient -= job.minus[at];
        weight -= job.minus[at + 1];
      }
      if (job.store) {
        job.store[at] = gradient;
        job.store[at + 1] = weight;
      }
    }
    m.gradient[t] = gradient;
    m.weight[t] = weight;
  });
}

template <class B>
FRUGAL_DEVICE void run(const Scan& a, B& block, ScanMemory& m) {
  const ScanJob job = a.jobs[block.number() / a.columns];
  const std::uint32_t place = block.number() % a.columns;
  if (a.columns <= kTile && !((job.wanted >> place) & 1)) {
    block.each([&](int t) {
      if (t == 0) job.out[place] = {-1.0, 0.0, 0, kUnseen};
    });
    return;
  }
  const Column column = job.columns[place];
  const std::uint32_t bins = column.bins;
  load(job, place, bins + column.missing, block, m);
  ColumnTask c{bins,
               column.missing != 0,
               0,
               0,
               job.gradient,
               job.weight,
               a.min_weight,
               job.factor,
               {job.low, job.high},
               column.categorical ? 0 : column.trend};
  if (column.missing) {
    c.missing_gradient = m.gradient[bins];
    c.missing_weight = m.weight[bins];
  }
  const bool constrained = c.limits.limited() || c.trend != 0;
  FoundSplit best;
  if (column.categorical) {
    c.bins = order_levels(c, block, m);
    best = scan(c, m.sorted_gradient, m.sorted_weight, block, constrained);
    if (job.at_root) {  // a bound for any two sets of levels
      c.min_weight = 1.0;
      best.reach = scan(c, m.sorted_gradient, m.sorted_weight, block, false).gain;
    }
  } else {
    best = scan(c, m.gradient, m.weight, block, constrained);
  }
  block.each([&](int t) {
    if (t == 0) job.out[place] = best;
  });
}

}  // namespace frugal::device
