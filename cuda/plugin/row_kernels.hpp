// Kernels over the rows of nodes: parting them, sums over leaves, quantiles, new predictions.
#pragma once

#include "numbers.hpp"
#include "support/mixing.hpp"

namespace frugal::device {

struct Nothing;

struct SplitMemory {
  Row rows[kSplitRows];
  std::int32_t q[kSplitRows];
  std::uint16_t order[kSplitRows];
  std::uint8_t left[kSplitRows];
  Word left_at, right_at;
};

FRUGAL_DEVICE bool is_in(const Word* set, std::uint32_t bin) {
  return (set[bin / 64] >> (bin % 64)) & 1;
}

// As RowDraw::has (engine/engine.hpp).
FRUGAL_DEVICE bool is_drawn(Word key, double share, Word row) {
  return real(low_bits<std::int64_t>(mixed(key + (row + 1) * kMixStep) >> 11)) * 0x1p-53 < share;
}

// The rows of one task in their order: those that go left, then those that go right. Each task takes room for its rows
// on both sides; which task comes first does not matter, since all sums over rows are exact.
template <class B>
FRUGAL_DEVICE void run(const Split& a, B& block, SplitMemory& m) {
  const Task task = a.tasks[block.number()];
  const SplitJob& job = a.jobs[task.job];
  const std::uint32_t count = task.end - task.begin;
  const std::uint8_t* bins = job.bins;
  Word* sums = job.sums;
  typename B::template PerThread<std::int64_t> lefts, weight, gradient;
  typename B::template PerThread<Int128> squares;
  block.each([&](int t) {
    for (std::uint32_t i = t; i < count; i += B::kThreads) {
      const Row row = row_at(job.from, task.begin + i);
      const std::int32_t q = gradient_at(job.from, task.begin + i, row);
      const bool left = bins ? is_in(job.left, read(bins + Word{row} * job.step)) : is_drawn(job.key, job.share, row);
      m.rows[i] = row;
      m.q[i] = q;
      m.left[i] = left;
      if (!left) continue;
      const std::int64_t unit = unit_of(a.units, row);
      weight[t] += unit;
      gradient[t] += unit * q;
      squares[t] += Int128{unit} * (std::int64_t{q} * q);
    }
  });
  constexpr std::uint32_t kEach = kSplitRows / B::kThreads;
  block.each([&](int t) {
    for (std::uint32_t i = t * kEach; i < (t + 1) * kEach && i < count; ++i) lefts[t] += m.left[i];
  });
  block.sums_up_to(lefts);
  block.each([&](int t) {
    if (t != B::kThreads - 1) return;
    const Word all = low_bits<Word>(lefts[t]);
    m.left_at = atomic_fetch_add(sums + Split::kLeft, all);
    m.right_at = job.from.count - atomic_fetch_add(sums + Split::kRight, count - all) - (count - all);
  });
  block.each([&](int t) {
    const std::uint32_t begin = t * kEach, end = begin + kEach < count ? begin + kEach : count;
    if (begin >= end) return;
    std::uint32_t left = low_bits<std::uint32_t>(lefts[t]);
    for (std::uint32_t i = end; i-- > begin;)
      if (m.left[i]) m.order[--left] = low_bits<std::uint16_t>(i);
  });
  const std::uint32_t all_left = low_bits<std::uint32_t>(block.largest(lefts));
  block.each([&](int t) {
    const std::uint32_t begin = t * kEach, end = begin + kEach < count ? begin + kEach : count;
    if (begin >= end) return;
    std::uint32_t right = end - low_bits<std::uint32_t>(lefts[t]);  // rows that go right, up to this thread's last
    for (std::uint32_t i = end; i-- > begin;)
      if (!m.left[i]) m.order[all_left + --right] = low_bits<std::uint16_t>(i);
  });
  block.each([&](int t) {
    for (std::uint32_t i = t; i < count; i += B::kThreads) {
      const std::uint32_t from = m.order[i];
      const Word to = i < all_left ? m.left_at + i : m.right_at + (i - all_left);
      job.rows[to] = m.rows[from];
      if (job.q) job.q[to] = m.q[from];
    }
  });
  add_sum(block, weight, sums + Split::kWeight);
  add_sum(block, gradient, sums + Split::kGradient);
  add_wide(block, squares, sums + Split::kSquares);
}

template <class B>
FRUGAL_DEVICE void run(const LeafSum& a, B& block, Nothing&) {
  const Task task = a.tasks[block.number()];
  const RowList& leaf = a.leaves[task.job];
  typename B::template PerThread<Int128> g, h;
  block.each([&](int t) {
    for (std::uint32_t i = task.begin + t; i < task.end; i += B::kThreads) {
      const Row row = row_at(leaf, i);
      const Int128 unit = unit_of(a.units, row);
      g[t] += unit * on_grid(a.grid_g, a.g[row]);
      h[t] += unit * on_grid(a.grid_h, a.h[row]);
    }
  });
  add_wide(block, g, a.out + LeafSum::kWords * task.job);
  add_wide(block, h, a.out + LeafSum::kWords * task.job + kWideWords);
}

// An integer in the order of the numbers.
FRUGAL_DEVICE Word key_of(double v) {
  const Word bits = bits_as<Word>(v + 0.0);
  return bits >> 63 ? ~bits : bits | (Word{1} << 63);
}

FRUGAL_DEVICE double score_of(std::int64_t score) {
  return real(score) * (1.0 / 1024.0);
}

struct Weighed {
  double value;
  std::int64_t unit;  // 0: the row does not count
};

FRUGAL_DEVICE std::int64_t score_at(const Sought& s, Row row) {
  return s.scores[s.bins[Word{row} * s.step]];
}

FRUGAL_DEVICE Weighed weighed(const Sought& s, Row row) {
  const std::int64_t unit = unit_of(s.units, row);
  if (!s.bins) return {s.y[row] - s.raw[row], unit};
  const std::int64_t score = score_at(s, row);
  if (score == 0) return {0.0, 0};
  return {(s.y[row] - s.raw[row] - s.intercept) / score_of(score), unit * (score < 0 ? -score : score)};
}

struct DigitMemory {
  std::uint32_t low[Digits::kDigits], high[Digits::kDigits];
};

template <class B>
FRUGAL_DEVICE void run(const Digits& a, B& block, DigitMemory& m) {
  const Task task = a.sought.tasks[block.number()];
  const RowList& list = a.sought.lists[task.job];
  const Word prefix = a.prefixes[task.job];
  block.each([&](int t) { m.low[t] = m.high[t] = 0; });
  block.each([&](int t) {
    for (std::uint32_t i = task.begin + t; i < task.end; i += B::kThreads) {
      const Weighed v = weighed(a.sought, row_at(list, i));
      const Word key = key_of(v.value);
      if (v.unit == 0 || (a.left < 64 && key >> a.left != prefix)) continue;
      const std::uint32_t digit = low_bits<std::uint32_t>(key >> (a.left - 8)) & 255;
      add_in_halves(m.low + digit, m.high + digit, v.unit);
    }
  });
  block.each([&](int t) {
    const std::int64_t weight = joined(m.low[t], m.high[t]);
    if (weight != 0) atomic_add(a.out + Word{task.job} * Digits::kDigits + t, low_bits<Word>(weight));
  });
}

template <class B>
FRUGAL_DEVICE void run(const Nearest& a, B& block, Nothing&) {
  const Task task = a.sought.tasks[block.number()];
  const RowList& list = a.sought.lists[task.job];
  const Word sought = a.keys[task.job];
  typename B::template PerThread<std::int64_t> at;
  block.each([&](int t) {
    Word next = 0;
    for (std::uint32_t i = task.begin + t; i < task.end; i += B::kThreads) {
      const Weighed v = weighed(a.sought, row_at(list, i));
      const Word key = key_of(v.value);
      if (v.unit == 0) continue;
      if (key == sought) at[t] += v.unit;
      if (key > sought && ~key > next) next = ~key;
    }
    if (next != 0) atomic_largest(a.out + 2 * task.job + 1, next);
  });
  add_sum(block, at, a.out + 2 * task.job);
}

template <class B>
FRUGAL_DEVICE void run(const Sides& a, B& block, Nothing&) {
  const Task task = a.sought.tasks[block.number()];
  const RowList& list = a.sought.lists[task.job];
  typename B::template PerThread<std::int64_t> above, below;
  block.each([&](int t) {
    for (std::uint32_t i = task.begin + t; i < task.end; i += B::kThreads) {
      const Row row = row_at(list, i);
      const std::int64_t score = score_at(a.sought, row), unit = unit_of(a.sought.units, row);
      if (score > 0) above[t] += unit * score;
      if (score < 0) below[t] -= unit * score;
    }
  });
  add_sum(block, above, a.out);
  add_sum(block, below, a.out + 1);
}

template <class B>
FRUGAL_DEVICE void run(const AddLeaves& a, B& block, Nothing&) {
  const Task task = a.tasks[block.number()];
  const RowList& leaf = a.leaves[task.job];
  const double value = a.values[task.job];
  block.each([&](int t) {
    for (std::uint32_t i = task.begin + t; i < task.end; i += B::kThreads) a.raw[row_at(leaf, i)] += value;
  });
}

template <class B>
FRUGAL_DEVICE void run(const Walk& a, B& block, Nothing&) {
  block.each([&](int t) {
    for (Word i = Word{block.number()} * B::kThreads + t; i < a.rows.count; i += Word{block.count()} * B::kThreads) {
      const Row row = row_at(a.rows, low_bits<std::uint32_t>(i));
      const WalkNode* node = a.nodes;
      while (node->bins)
        node = a.nodes + node->left + !is_in(node->goes_left, read(node->bins + Word{row} * node->step));
      a.raw[row] += node->value;
    }
  });
}

template <class B>
FRUGAL_DEVICE void run(const Gather& a, B& block, Nothing&) {
  typename B::template PerThread<std::int64_t> sum;
  block.each([&](int t) {
    for (Word i = Word{block.number()} * B::kThreads + t; i < a.count; i += Word{block.count()} * B::kThreads) {
      a.out[i] = a.q[a.rows[i]];
      sum[t] += a.out[i];
    }
  });
  add_sum(block, sum, a.sum);
}

}  // namespace frugal::device
