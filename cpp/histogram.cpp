#include "histogram.hpp"

#include <algorithm>
#include <cstring>

#include "kernels.hpp"

namespace frugal {
namespace {

constexpr size_t kAhead = 16;  // rows of a node lie apart: ask for them this many rows early

inline std::uint64_t load_bins(const std::uint8_t* group, size_t row) {
  std::uint64_t v;
  std::memcpy(&v, group + row * kLanes, sizeof v);
  return v;
}

template <bool Listed>
inline size_t row_at(const NodeRows& n, size_t i, const std::uint8_t* group) {
  if constexpr (!Listed) return n.first + i;
  if (i + kAhead < n.count) __builtin_prefetch(group + static_cast<size_t>(n.rows[i + kAhead]) * kLanes);
  return n.rows[i];
}

// One addition per row and column: gradient and count in one word.
template <int Lanes, bool Listed>
void add_one_word(const NodeRows& n, const std::uint8_t* group, std::int64_t* const* cells) {
  std::int64_t* base[Lanes];
  for (int c = 0; c < Lanes; ++c) base[c] = cells[c];
  for (size_t i = 0; i < n.count; ++i) {
    std::uint64_t bins = load_bins(group, row_at<Listed>(n, i, group));
    std::int64_t add = (static_cast<std::int64_t>(n.q[i]) << kCountBits) + 1;
#pragma GCC unroll 8
    for (int c = 0; c < Lanes; ++c) base[c][(bins >> (8 * c)) & 255] += add;
  }
}

template <int Lanes, bool Listed>
void add_weighted(const NodeRows& n, const std::uint8_t* group, std::int64_t* const* cells) {
  std::int64_t* base[Lanes];
  for (int c = 0; c < Lanes; ++c) base[c] = cells[c];
  for (size_t i = 0; i < n.count; ++i) {
    std::uint64_t bins = load_bins(group, row_at<Listed>(n, i, group));
    std::int64_t unit = n.units[i], gradient = unit * n.q[i];
#pragma GCC unroll 8
    for (int c = 0; c < Lanes; ++c) {
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

}  // namespace

Histograms::Histograms(const BinnedMatrix& X, Lanes lanes, bool weighted)
    : lanes_(std::move(lanes)),
      weighted_(weighted),
      words_per_cell_(weighted || X.rows() > static_cast<size_t>(kCountMask) ? 2 : 1) {
  // Groups are worked on by different threads, so each starts on a line of its own.
  size_t at = 0;
  for (size_t p = 0; p < lanes_.places(); ++p) {
    if (p % kLanes == 0) at = whole_lines(at);
    offsets_.push_back(at);
    at += static_cast<size_t>(X.cells(lanes_.columns[p]) * words_per_cell_);
  }
  offsets_.push_back(whole_lines(at));
  for (size_t g = 0; g < lanes_.groups.size(); ++g) most_group_words_ = std::max(most_group_words_, group_words(g));
}

size_t Histograms::group_words(size_t g) const {
  return offsets_[std::min(lanes_.places(), (g + 1) * kLanes)] - group_begin(g);
}

void Histograms::build(const NodeRows& rows, size_t group, std::int64_t* cells, std::int64_t* scratch) const {
  std::fill_n(cells, group_words(group), 0);
  if (!weighted_ && !one_word()) return add_in_stretches(rows, group, cells, scratch);
  std::int64_t* base[kLanes];
  const int lanes = lanes_.width(group);
  for (int c = 0; c < lanes; ++c) base[c] = cells + offsets_[group * kLanes + c] - group_begin(group);
  const Add* add =
      weighted_ ? (rows.rows ? kWeighted<true> : kWeighted<false>) : (rows.rows ? kOneWord<true> : kOneWord<false>);
  add[lanes - 1](rows, lanes_.groups[group], base);
}

void Histograms::add_in_stretches(const NodeRows& rows, size_t group, std::int64_t* cells,
                                  std::int64_t* scratch) const {
  const int lanes = lanes_.width(group);
  const size_t count = group_words(group) / 2;
  std::int64_t* base[kLanes];
  for (int c = 0; c < lanes; ++c) base[c] = scratch + (offsets_[group * kLanes + c] - group_begin(group)) / 2;
  const Add add = (rows.rows ? kOneWord<true> : kOneWord<false>)[lanes - 1];
  for (size_t begin = 0; begin < rows.count; begin += kCountMask) {
    size_t end = std::min<size_t>(rows.count, begin + kCountMask);
    std::fill_n(scratch, count, 0);
    add(rows.part(begin, end), lanes_.groups[group], base);
    for (size_t i = 0; i < count; ++i) {
      cells[2 * i] += scratch[i] >> kCountBits;
      cells[2 * i + 1] += scratch[i] & kCountMask;
    }
  }
}

}  // namespace frugal
