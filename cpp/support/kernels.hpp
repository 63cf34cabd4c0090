// The few loops that gain from wide vector instructions. kernels.cpp is compiled once for each instruction
// set; which copy runs is decided once, when first asked for. All copies give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/limits.hpp"

namespace frugal {

// What the scan of one column's histogram needs to know about its node.
struct ScanTask {
  const std::int64_t* cells;  // value bins, then the bin of missing values where there is one
  int value_bins;
  bool has_missing;
  std::int64_t gradient, weight;  // of the whole node
  double min_weight;              // a child with less is not allowed
  double factor;                  // from squared units to gain
};

struct ScanResult {
  double gain;  // -1: no split is allowed
  int bin;
  int missing_side;  // 0: the node has no missing values here, 1: left, 2: right
};

// Which bins go left: all up to a threshold and perhaps one more, or those of a list.
struct LeftBins {
  const bool* listed;  // by bin; nullptr: by threshold
  int up_to;
  int and_also;  // -1: no other
};

struct Kernels {
  const char* name;
  // One bit for every row, 64 to a word: whether it goes left. Returns how many do.
  std::size_t (*left_bits)(std::size_t n, const std::uint8_t* bins, const LeftBins& left, std::uint64_t* bits);
  // Copies rows to the left or to the right, in order; `left` and `right` have room for exactly as many.
  void (*part_rows)(std::size_t n, const std::uint32_t* rows, const std::uint64_t* bits, std::uint32_t* left,
                    std::uint32_t* right);

  // Best split of one column; cells of one 64-bit word (count in the low bits), or of two words.
  ScanResult (*scan_packed)(const ScanTask&);
  ScanResult (*scan_wide)(const ScanTask&);

  std::int64_t (*sum)(std::size_t n, const std::int32_t* v);
  std::int64_t (*sum_of_squares)(std::size_t n, const std::int32_t* v);  // 2^62 at most for 1024 numbers up to 2^26
  // Sum and sum of squares of b * b_scale - a * a_scale; and a becomes b.
  void (*difference)(std::size_t n, std::int32_t* a, double a_scale, const std::int32_t* b, double b_scale, double* sum,
                     double* squares);
  double (*largest_magnitude)(std::size_t n, const double* v);  // NaN counts as larger than everything
  void (*to_grid)(std::size_t n, const double* v, double scale, std::int32_t* out);
  // Sum of v * scale, each rounded to a whole number; wrong where one is 2^51 or more.
  std::int64_t (*sum_on_grid)(std::size_t n, const double* v, double scale);

  void (*logistic_losses)(std::size_t n, const double* y, const double* f, double* out);
  // And the derivatives with them.
  void (*logistic)(std::size_t n, const double* y, const double* f, double* g, double* h, double* out);
  // Log of the sum of exp over K outputs; output k of row i is f[k * stride + i].
  void (*log_sum_exp)(std::size_t n, std::size_t outputs, const double* f, std::size_t stride, double* out);
  void (*softmax_derivatives)(std::size_t n, const double* y, double k, const double* f, const double* log_sum,
                              double* g, double* h);
  void (*exponentials)(std::size_t n, const double* v, double* out);
};

const Kernels& kernels();

}  // namespace frugal
