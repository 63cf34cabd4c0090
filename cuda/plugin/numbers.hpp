// Numbers in kernels: grids, sums of 128 bits, rows of a list.
#pragma once

#include <cmath>

#include "block.hpp"
#include "engine/cuda/arguments.hpp"
#include "support/convert.hpp"
#include "support/portable_math.hpp"

namespace frugal::device {

FRUGAL_DEVICE std::int64_t on_grid(const NumberGrid& grid, double v) {
  return llrint(grid.plain ? v * grid.scale : ldexp(v, grid.shift));
}

FRUGAL_DEVICE std::int64_t unit_of(const std::int64_t* units, Word row) {
  return units ? read(units + row) : 1;
}

FRUGAL_DEVICE Word magnitude_bits(double v) {
  return bits_as<Word>(v) & 0x7FFFFFFFFFFFFFFFull;
}

FRUGAL_DEVICE double smaller(double a, double b) {
  return b < a ? b : a;
}
FRUGAL_DEVICE double larger(double a, double b) {
  return a < b ? b : a;
}

// The nearest double, halves to even: the leading 64 bits, with a bit that says whether there is more below.
FRUGAL_DEVICE double nearest_double(Int128 v) {
  using Unsigned = unsigned __int128;
  const bool negative = v < 0;
  const Unsigned magnitude = negative ? Unsigned{0} - static_cast<Unsigned>(v) : static_cast<Unsigned>(v);
  const Word high = low_bits<Word>(magnitude >> 64);
  double out;
  if (high == 0) {
    out = static_cast<double>(low_bits<Word>(magnitude));
  } else {
#ifdef __CUDACC__
    const int shift = 64 - __clzll(static_cast<long long>(high));
#else
    const int shift = 64 - __builtin_clzll(high);
#endif
    const Word rest = low_bits<Word>(magnitude) & ((Word{1} << (shift % 64)) - 1);
    const bool more = shift == 64 ? low_bits<Word>(magnitude) != 0 : rest != 0;
    out = ldexp(static_cast<double>(low_bits<Word>(magnitude >> shift) | Word{more}), shift);
  }
  return negative ? -out : out;
}

// Adds a sum of all threads to three words.
template <class B>
FRUGAL_DEVICE void add_wide(B& block, typename B::template PerThread<Int128>& values, Word* out) {
  typename B::template PerThread<std::int64_t> part;
  for (int w = 0; w < 3; ++w) {
    block.each([&](int t) {
      const auto v = values[t];
      part[t] = w == 2 ? low_bits<std::int64_t>(v >> 64)
                       : low_bits<std::int64_t>(low_bits<std::uint32_t>(low_bits<Word>(v) >> (32 * w)));
    });
    const std::int64_t total = block.sum(part);
    block.each([&](int t) {
      if (t == 0 && total != 0) atomic_add(out + w, low_bits<Word>(total));
    });
  }
}

template <class B>
FRUGAL_DEVICE void add_sum(B& block, typename B::template PerThread<std::int64_t>& values, Word* out) {
  const std::int64_t total = block.sum(values);
  block.each([&](int t) {
    if (t == 0 && total != 0) atomic_add(out, low_bits<Word>(total));
  });
}

// Values are not negative.
template <class B>
FRUGAL_DEVICE void raise(B& block, typename B::template PerThread<std::int64_t>& values, Word* out) {
  const std::int64_t most = block.largest(values);
  block.each([&](int t) {
    if (t == 0) atomic_largest(out, low_bits<Word>(most));
  });
}

FRUGAL_DEVICE Row row_at(const RowList& list, std::uint32_t place) {
  return list.rows ? read(list.rows + list.first + place) : list.first + place;
}
FRUGAL_DEVICE std::int32_t gradient_at(const RowList& list, std::uint32_t place, Row row) {
  return read(list.q + (list.ordered ? list.first + place : row));
}

// Adds to a number of 64 bits in two words of 32 bits: additions of that length are one instruction in shared memory,
// longer ones are not. Few additions reach the upper word if the lower one begins in its middle.
FRUGAL_DEVICE void add_in_halves(std::uint32_t* low, std::uint32_t* high, std::int64_t v) {
  const std::uint32_t lower = low_bits<std::uint32_t>(v);
  const std::uint32_t before = atomic_add(low, lower);
  const std::uint32_t upper = low_bits<std::uint32_t>(low_bits<Word>(v) >> 32) + (before + lower < before);
  if (upper != 0) atomic_add(high, upper);
}
FRUGAL_DEVICE std::int64_t joined(std::uint32_t low, std::uint32_t high) {
  return low_bits<std::int64_t>(low_bits<Word>(high) << 32 | low);
}

}  // namespace frugal::device
