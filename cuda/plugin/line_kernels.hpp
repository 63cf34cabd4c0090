// Kernels for lines: sums over rows of derivatives times the scores of columns.
#pragma once

#include "row_kernels.hpp"

namespace frugal::device {

template <class B>
FRUGAL_DEVICE void run(const AddLine& a, B& block, Nothing&) {
  block.each([&](int t) {
    for (Word i = Word{block.number()} * B::kThreads + t; i < a.rows; i += Word{block.count()} * B::kThreads)
      a.raw[i] += a.value + a.slope * score_of(a.scores[a.bins[i * a.step]]);
  });
}

template <class B>
FRUGAL_DEVICE void run(const LineSum& a, B& block, Nothing&) {
  typename B::template PerThread<Int128> sums[LineSum::kSums];
  block.each([&](int t) {
    for (Word i = Word{block.number()} * B::kThreads + t; i < a.rows.count; i += Word{block.count()} * B::kThreads) {
      const Row row = row_at(a.rows, low_bits<std::uint32_t>(i));
      const Int128 unit = unit_of(a.units, row);
      const Int128 g = unit * on_grid(a.grid_g, a.g[row]), h = unit * on_grid(a.grid_h, a.h[row]);
      const std::int64_t score = a.scores[a.bins[Word{row} * a.step]];
      sums[0][t] += g;
      sums[1][t] += g * score;
      sums[2][t] += h;
      sums[3][t] += h * score;
      sums[4][t] += h * (score * score);
    }
  });
  for (size_t s = 0; s < LineSum::kSums; ++s) add_wide(block, sums[s], a.out + s * kWideWords);
}

template <class B>
FRUGAL_DEVICE void run(const Dot& a, B& block, Nothing&) {
  const DotJob job = a.jobs[block.number()];
  typename B::template PerThread<Int128> score, square, gradient;
  block.each([&](int t) {
    if (low_bits<std::uint32_t>(t) >= job.count) return;
    const std::int64_t z = job.scores[t], q = job.cells[Word(t) * 2 * kTile], w = job.cells[Word(t) * 2 * kTile + 1];
    score[t] = Int128{w} * z;
    square[t] = Int128{w} * (z * z);
    gradient[t] = Int128{q} * z;
  });
  Word* out = a.out + block.number() * Dot::kWords;
  add_wide(block, score, out);
  add_wide(block, square, out + kWideWords);
  add_wide(block, gradient, out + 2 * kWideWords);
}

struct CurvatureMemory {
  std::int16_t z[2][Curvature::kSide][Curvature::kRows];
  std::int64_t h[Curvature::kRows];
};

// A thread for each pair of columns of a square.
template <class B>
FRUGAL_DEVICE void run(const Curvature& a, B& block, CurvatureMemory& m) {
  constexpr int kSide = Curvature::kSide, kRows = Curvature::kRows;
  const std::uint32_t all = a.squares * a.squares, square = block.number() % all;
  const std::uint32_t begin = block.number() / all * Curvature::kBlockRows;
  const std::uint32_t end = begin + Curvature::kBlockRows < a.rows.count ? begin + Curvature::kBlockRows : a.rows.count;
  const std::uint32_t first[2] = {square / a.squares * kSide, square % a.squares * kSide};
  if (first[1] > first[0]) return;
  typename B::template PerThread<Int128> sum;
  for (std::uint32_t at = begin; at < end; at += kRows) {
    block.each([&](int t) {
      for (int i = t; i < kRows; i += B::kThreads) {
        const bool there = at + i < end;
        const Row row = there ? row_at(a.rows, at + i) : 0;
        m.h[i] = there ? unit_of(a.units, row) * on_grid(a.grid, a.h[row]) : 0;
      }
      for (int i = t; i < 2 * kSide * kRows; i += B::kThreads) {
        const int side = i / (kSide * kRows), column = i / kRows % kSide, place = i % kRows;
        const std::uint32_t c = first[side] + column;
        std::int16_t z = 0;
        if (c < a.count && at + place < end) {
          const CurvatureColumn& from = a.columns[c];
          z = 1 << 6;
          if (from.bins) z = (from.scores[from.bins[Word{row_at(a.rows, at + place)} * from.step]] + 8) >> 4;
        }
        m.z[side][column][place] = z;
      }
    });
    block.each([&](int t) {
      for (int i = 0; i < kRows; ++i)
        sum[t] += Int128{m.h[i]} * (int{m.z[0][t / kSide][i]} * int{m.z[1][t % kSide][i]});
    });
  }
  block.each([&](int t) {
    const std::uint32_t i = first[0] + t / kSide, j = first[1] + t % kSide;
    if (i >= a.count || j > i) return;
    Word* out = a.out + (Word{i} * a.count + j) * kWideWords;
    const Int128 v = sum[t];
    atomic_add(out, low_bits<Word>(v) & 0xFFFFFFFFull);
    atomic_add(out + 1, low_bits<Word>(v) >> 32);
    atomic_add(out + 2, low_bits<Word>(low_bits<std::int64_t>(v >> 64)));
  });
}

}  // namespace frugal::device
