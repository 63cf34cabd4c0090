// The few loops that gain from wide vector instructions. kernels.cpp is compiled once for each instruction set; the
// copy to run is chosen once, at the first call. All copies give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/bin_search.hpp"
#include "support/limits.hpp"
#include "support/missing_side.hpp"

namespace frugal {

// What the scan of a column's histogram needs.
struct ScanTask {
  const std::int64_t* cells;  // of the value bins, then that of missing values if `has_missing`
  int value_bins;
  bool has_missing;
  std::int64_t gradient, weight;  // of the whole node
  double min_weight;              // a child may not weigh less
  double factor;                  // from squared grid units to gain
};

struct ScanResult {
  double gain;  // -1: no split is allowed
  std::uint16_t bin;
  MissingSide missing;
};

// Which bins go left: either all up to a threshold and possibly the bin of missing values, or those in a list.
struct LeftBins {
  const bool* listed;  // by bin; nullptr: by threshold
  int up_to;
  int and_also;  // -1: none
};

struct Kernels {
  const char* name;
  // Writes one bit for every row, 64 to a word: whether it goes left. Returns the number of rows that do.
  std::size_t (*left_bits)(std::size_t n, const std::uint8_t* bins, const LeftBins& left, std::uint64_t* bits);
  // Copies each row to `left` or `right`, in order. They have room for exactly the rows that go there.
  void (*partition_rows)(std::size_t n, const std::uint32_t* rows, const std::uint64_t* bits, std::uint32_t* left,
                         std::uint32_t* right);

  // Best split of one column, from cells of one word (packed_cell.hpp) or of two words: gradient, weight.
  ScanResult (*scan_packed)(const ScanTask&);
  ScanResult (*scan_wide)(const ScanTask&);

  std::int64_t (*sum)(std::size_t n, const std::int32_t* v);
  std::int64_t (*sum_of_squares)(std::size_t n, const std::int32_t* v);  // 2^62 at most for 1024 numbers up to 2^26
  // Sum and sum of squares of b * b_scale - a * a_scale. Copies b to a.
  void (*difference)(std::size_t n, std::int32_t* a, double a_scale, const std::int32_t* b, double b_scale, double* sum,
                     double* squares);
  double (*largest_magnitude)(std::size_t n, const double* v);  // NaN if any value is NaN
  void (*to_grid)(std::size_t n, const double* v, double scale, std::int32_t* out);
  // Sum of v * scale, each rounded to a whole number. Wrong if one of them is 2^51 or more.
  std::int64_t (*sum_on_grid)(std::size_t n, const double* v, double scale);

  void (*logistic_losses)(std::size_t n, const double* y, const double* f, double* out);
  // The losses and their derivatives.
  void (*logistic)(std::size_t n, const double* y, const double* f, double* g, double* h, double* out);
  // log(sum over outputs k of exp(f[k * stride + i])) for every row i.
  void (*log_sum_exp)(std::size_t n, std::size_t outputs, const double* f, std::size_t stride, double* out);
  void (*softmax_derivatives)(std::size_t n, const double* y, double k, const double* f, const double* log_sum,
                              double* g, double* h);
  void (*exponentials)(std::size_t n, const double* v, double* out);

  // Writes the bin of every value, as bin_of() does, and returns whether one of them is NaN. The tree's nodes are
  // thresholds rounded down for floats, and to the nearest number for doubles.
  bool (*bins_of_floats)(std::size_t n, const float* v, const CutTree& tree, std::uint8_t* out);
  bool (*bins_of_doubles)(std::size_t n, const double* v, const CutTree& tree, std::uint8_t* out);
  // Writes lanes[lane * step + i] to out[8 * i + lane], for eight lanes.
  void (*interleave)(std::size_t n, const std::uint8_t* lanes, std::size_t step, std::uint8_t* out);
};

const Kernels& kernels();

}  // namespace frugal
