#include "engine/cpu/histogram.hpp"

#include <algorithm>
#include <cstring>

#include "support/limits.hpp"
#include "support/mask.hpp"
#include "support/packed_cell.hpp"

namespace frugal {
namespace {

constexpr size_t kAhead = 16;  // the rows of a node are scattered: prefetch this many rows ahead

inline std::uint64_t load_bins(const std::uint8_t* group, size_t row) {
  std::uint64_t v;
  std::memcpy(&v, group + row * kLanes, sizeof v);
  return v;
}

template <bool Listed>
inline size_t row_at(const NodeRows& n, size_t i, const std::uint8_t* group) {
  if constexpr (!Listed) return n.first + i;
  if (i + kAhead < n.count) __builtin_prefetch(group + size_t{n.rows[i + kAhead]} * kLanes);
  return n.rows[i];
}

// Cells of one word: one addition per row and column. Shifts of 32-bit numbers are cheaper than those of 64-bit ones.
template <size_t Lanes, bool Listed>
void add_one_word(const NodeRows& n, const std::uint8_t* group, std::int64_t* const* cells) {
  std::int64_t* base[Lanes];
  for (size_t c = 0; c < Lanes; ++c) base[c] = cells[c];
  for (size_t i = 0; i < n.count; ++i) {
    const std::uint64_t bins = load_bins(group, row_at<Listed>(n, i, group));
    const auto low = low_bits<std::uint32_t>(bins), high = low_bits<std::uint32_t>(bins >> 32);
    const std::int64_t add = packed_row(n.q[i]);
#pragma GCC unroll 8
    for (size_t c = 0; c < Lanes; ++c) base[c][((c < 4 ? low : high) >> (8 * (c % 4))) & 255] += add;
  }
}

// Only some lanes of a group.
template <size_t Lanes, bool Listed>
void add_some(const NodeRows& n, const std::uint8_t* group, std::int64_t* const* cells, const size_t* lanes) {
  std::int64_t* base[Lanes];
  size_t lane[Lanes];
  for (size_t c = 0; c < Lanes; ++c) {
    base[c] = cells[lanes[c]];
    lane[c] = lanes[c];
  }
  for (size_t i = 0; i < n.count; ++i) {
    const std::uint8_t* bins = group + row_at<Listed>(n, i, group) * kLanes;
    const std::int64_t add = packed_row(n.q[i]);
#pragma GCC unroll 4
    for (size_t c = 0; c < Lanes; ++c) base[c][bins[lane[c]]] += add;
  }
}

template <size_t Lanes, bool Listed>
void add_weighted(const NodeRows& n, const std::uint8_t* group, std::int64_t* const* cells) {
  std::int64_t* base[Lanes];
  for (size_t c = 0; c < Lanes; ++c) base[c] = cells[c];
  for (size_t i = 0; i < n.count; ++i) {
    std::uint64_t bins = load_bins(group, row_at<Listed>(n, i, group));
    std::int64_t unit = n.units[i], gradient = unit * n.q[i];
#pragma GCC unroll 8
    for (size_t c = 0; c < Lanes; ++c) {
      std::int64_t* cell = base[c] + 2 * ((bins >> (8 * c)) & 255);
      cell[0] += gradient;
      cell[1] += unit;
    }
  }
}

using Add = void (*)(const NodeRows&, const std::uint8_t*, std::int64_t* const*);

template <bool Listed>
constexpr Add kOneWord[kLanes] = {add_one_word<1, Listed>, add_one_word<2, Listed>, add_one_word<3, Listed>,
                                  add_one_word<4, Listed>, add_one_word<5, Listed>, add_one_word<6, Listed>,
                                  add_one_word<7, Listed>, add_one_word<8, Listed>};
template <bool Listed>
constexpr Add kWeighted[kLanes] = {add_weighted<1, Listed>, add_weighted<2, Listed>, add_weighted<3, Listed>,
                                   add_weighted<4, Listed>, add_weighted<5, Listed>, add_weighted<6, Listed>,
                                   add_weighted<7, Listed>, add_weighted<8, Listed>};

// A column stored by itself.
template <bool Listed>
void add_flat(const NodeRows& n, const std::uint8_t* column, std::int64_t* const* cells) {
  std::int64_t* base = cells[0];
  for (size_t i = 0; i < n.count; ++i) base[column[Listed ? n.rows[i] : n.first + i]] += packed_row(n.q[i]);
}

template <bool Listed>
void add_flat_weighted(const NodeRows& n, const std::uint8_t* column, std::int64_t* const* cells) {
  for (size_t i = 0; i < n.count; ++i) {
    std::int64_t* cell = cells[0] + 2 * size_t{column[Listed ? n.rows[i] : n.first + i]};
    cell[0] += n.units[i] * n.q[i];
    cell[1] += n.units[i];
  }
}

constexpr Add kFlat[2] = {add_flat<false>, add_flat<true>};
constexpr Add kFlatWeighted[2] = {add_flat_weighted<false>, add_flat_weighted<true>};

using AddSome = void (*)(const NodeRows&, const std::uint8_t*, std::int64_t* const*, const size_t*);
constexpr size_t kSome = 4;

template <bool Listed>
constexpr AddSome kAddSome[kSome] = {add_some<1, Listed>, add_some<2, Listed>, add_some<3, Listed>,
                                     add_some<4, Listed>};

// Rows that follow one another often have the same bins. Added to one cell, each would wait until the row before it is
// stored, so they take turns between this many joint histograms.
constexpr size_t kTurns = 4;

template <bool Weighted, bool Listed>
inline void add_joint(const NodeRows& n, size_t i, const std::uint8_t* folded, std::int64_t* joint) {
  std::int64_t* cell = joint + (Weighted ? 2 : 1) * size_t{folded[Listed ? n.rows[i] : n.first + i]};
  if constexpr (Weighted) {
    cell[0] += n.units[i] * n.q[i];
    cell[1] += n.units[i];
  } else {
    cell[0] += packed_row(n.q[i]);
  }
}

template <bool Weighted, bool Listed>
void add_in_turns(const NodeRows& n, const std::uint8_t* folded, std::int64_t* joint) {
  constexpr size_t kCells = 256 * (Weighted ? 2 : 1);
  alignas(64) std::int64_t others[(kTurns - 1) * kCells] = {};
  size_t i = 0;
  for (; i + kTurns <= n.count; i += kTurns) {
    add_joint<Weighted, Listed>(n, i, folded, joint);
#pragma GCC unroll 3
    for (size_t t = 1; t < kTurns; ++t) add_joint<Weighted, Listed>(n, i + t, folded, others + (t - 1) * kCells);
  }
  for (; i < n.count; ++i) add_joint<Weighted, Listed>(n, i, folded, joint);
  for (size_t c = 0; c < kCells; ++c)
    for (size_t t = 1; t < kTurns; ++t) joint[c] += others[(t - 1) * kCells + c];
}

// Eight columns of two bins with one addition per row, to a joint histogram with a cell for each combination of bins.
// Then for one column after another, its two bins are summed over the joint histogram, which is halved by leaving that
// column out.
template <bool Weighted>
void add_folded(const NodeRows& n, const std::uint8_t* folded, size_t lanes, std::int64_t* const* cells) {
  constexpr size_t kWords = Weighted ? 2 : 1;
  alignas(64) std::int64_t joint[256 * kWords] = {};
  (n.rows ? add_in_turns<Weighted, true> : add_in_turns<Weighted, false>)(n, folded, joint);
  for (size_t c = kLanes; c-- > 0;) {
    const size_t half = (size_t{1} << c) * kWords;
    std::int64_t ones[kWords] = {}, zeros[kWords] = {};
    for (size_t i = 0; i < half; ++i) {
      zeros[i % kWords] += joint[i];
      ones[i % kWords] += joint[half + i];
      joint[i] += joint[half + i];
    }
    for (size_t w = 0; w < kWords && c < lanes; ++w) {
      cells[c][w] += zeros[w];
      if (ones[kWords - 1] != 0) cells[c][kWords + w] += ones[w];  // a column of one bin has no second cell
    }
  }
}

}  // namespace

Histograms::Histograms(const TableFacts& table, Lanes lanes)
    : lanes_(std::move(lanes)),
      weighted_(table.weighted),
      words_per_cell_(table.weighted || table.rows > kCountMask ? 2 : 1) {
  // Groups are computed by different threads, so each starts on a cache line of its own.
  size_t at = 0;
  for (size_t p = 0; p < lanes_.places(); ++p) {
    if (p % lanes_.in_group == 0) at = whole_lines(at);
    offsets_.push_back(at);
    at += table.columns[lanes_.columns[p]].cells() * words_per_cell_;
  }
  offsets_.push_back(whole_lines(at));
  for (size_t g = 0; g < lanes_.groups.size(); ++g) most_group_words_ = std::max(most_group_words_, group_words(g));
}

size_t Histograms::group_words(size_t g) const {
  return group_begin(g + 1) - group_begin(g);
}

// Adds rows to cells of one word, or of two words if rows have weights.
void Histograms::add(const NodeRows& rows, size_t group, std::int64_t* cells, std::uint8_t wanted) const {
  std::int64_t* base[kLanes];
  const size_t lanes = lanes_.width(group);
  for (size_t c = 0; c < lanes; ++c)
    base[c] = cells + (offsets_[lanes_.first(group) + c] - group_begin(group)) / narrower();
  if (lanes_.in_group == 1)
    return (weighted_ ? kFlatWeighted : kFlat)[rows.rows != nullptr](rows, lanes_.groups[group], base);
  if (!lanes_.folded.empty() && lanes_.folded[group] && rows.count >= kFoldRows)
    return (weighted_ ? add_folded<true> : add_folded<false>)(rows, lanes_.folded[group], lanes, base);
  const size_t count = count_bits(wanted);
  if (!weighted_ && count <= kSome && count < lanes) {
    size_t chosen[kSome], next = 0;
    for (size_t c = 0; c < lanes; ++c)
      if (has_bit(wanted, c)) chosen[next++] = c;
    return (rows.rows ? kAddSome<true> : kAddSome<false>)[count - 1](rows, lanes_.groups[group], base, chosen);
  }
  const Add* add =
      weighted_ ? (rows.rows ? kWeighted<true> : kWeighted<false>) : (rows.rows ? kOneWord<true> : kOneWord<false>);
  add[lanes - 1](rows, lanes_.groups[group], base);
}

void Histograms::widen(const std::int64_t* from, size_t group, std::int64_t* cells) const {
  const size_t words = group_words(group);
  if (narrower() == 1) {
    for (size_t i = 0; i < words; ++i) cells[i] += from[i];
  } else {
    for (size_t i = 0; i < words / 2; ++i) {
      cells[2 * i] += packed_gradient(from[i]);
      cells[2 * i + 1] += packed_count(from[i]);
    }
  }
}

void Histograms::build(const NodeRows& rows, size_t group, std::int64_t* cells, std::int64_t* scratch,
                       std::uint8_t wanted) const {
  std::fill_n(cells, group_words(group), 0);
  if (narrower() == 1) return add(rows, group, cells, wanted);
  for (size_t begin = 0; begin < rows.count; begin += kMostCounted) {
    std::fill_n(scratch, group_words(group) / 2, 0);
    add(rows.part(begin, std::min(rows.count, begin + kMostCounted)), group, scratch, wanted);
    widen(scratch, group, cells);
  }
}

}  // namespace frugal
