// The kernels of a device and their arguments: plain records that the core fills in and the plugin reads. Pointers are
// to the device's memory. The bodies are in cuda/plugin/.
//
// A kernel runs in blocks of kThreads threads. Rows are given out in tasks, some rows of one job.
#pragma once

#include <cstdint>

#include "support/fixed_point.hpp"
#include "support/types.hpp"

namespace frugal::device {

using Word = std::uint64_t;

// Sums of 128 bits are added up in three words, since there are no atomic additions that long: 32 bits, the next 32
// bits, and the rest, whose overflow does not matter.
inline constexpr size_t kWideWords = 3;

// Columns are stored in tiles of 32: the bins of a row side by side, one byte each, `width` of them. So each of the 32
// threads that run together has a column, and a bank of shared memory, of its own.
inline constexpr std::uint32_t kTile = 32;
inline constexpr std::uint32_t kCells = 256;  // of a column's histogram
// A histogram of a tile has for every bin and column two words: the sums of gradients and of weights.
inline constexpr size_t kTileWords = size_t{kCells} * kTile * 2;

// Rows that one block takes at most. A histogram's cells have 18 bits for their number.
inline constexpr std::uint32_t kSplitRows = 2048;
inline constexpr std::uint32_t kHistogramRows = (1u << 18) - 1;

// A grid for numbers (support/fixed_point.hpp).
struct NumberGrid {
  int shift = 0;
  int plain = 0;
  double scale = 0.0;
};

// Some rows, with their gradients where these lie in the same order.
struct RowList {
  const Row* rows = nullptr;        // nullptr: the rows are numbers from `first` on
  const std::int32_t* q = nullptr;  // by place if `ordered`, else by row
  Row first = 0, count = 0;
  std::uint32_t ordered = 0;
};

struct Task {
  std::uint32_t job, begin, end;
};

// out[row * width + lane] = from[lane][row * step[lane]], or 0 without `from`. `chosen`: row numbers; nullptr: all.
struct Pack {
  static constexpr int kThreads = 256;
  std::uint8_t* out;
  std::uint32_t width;
  Word rows;
  const Row* chosen;
  const std::uint8_t* from[kTile];
  std::uint32_t step[kTile];
};

struct Fill {
  static constexpr int kThreads = 256;
  double* out;
  Word count;
  double value;
};

// Adds to all numbers, and counts those that adding `step` would change.
struct Shift {
  static constexpr int kThreads = 256;
  const double* from;
  double* out;
  Word count;
  double full, step;
  Word* changed;
};

enum class Formula : std::int32_t { logistic, softmax, squared, absolute, quantile, huber, poisson, gamma, tweedie };

struct LossFormula {
  Formula formula;
  double first, second;  // what the formula needs
};

// The loss of every row, its sum on a grid and the largest; and the derivatives of all outputs with their largest
// magnitudes, if there is memory for them.
struct LossOfRows {
  static constexpr int kThreads = 256;
  static constexpr size_t kLargest = kWideWords, kOfOutput = kLargest + 1;  // then two words for every output
  LossFormula loss;
  std::uint32_t outputs;
  Word rows;
  const double* y;
  const double* raw;
  const std::int64_t* units;
  double* log_sum;
  double* g;
  double* h;
  NumberGrid grid;
  Word* out;
};

// Two gradients brought to one grid.
struct CommonGrid {
  std::int32_t from_up, from_down, to_up, to_down;
};

// Gradients on their grid, with what is to be known about them; and the sums of weight * change and weight * change^2
// since earlier ones, if there are any.
struct Quantize {
  static constexpr int kThreads = 256;
  static constexpr size_t kTotal = 0, kLowest = 1, kHighest = 2, kSquares = 3, kMoved = kSquares + kWideWords,
                          kSquaredMove = kMoved + kWideWords, kWords = kSquaredMove + kWideWords;
  const double* g;
  Word rows;
  NumberGrid grid;
  const std::int64_t* units;
  std::int32_t* q;
  const std::int32_t* earlier;
  CommonGrid common;
  Word* out;
};

// Sums of weight * change and weight * (change - mean)^2, where both gradients are brought to one grid.
struct Change {
  static constexpr int kThreads = 256;
  const std::int32_t* from;
  const std::int32_t* to;
  Word rows;
  CommonGrid common;
  std::int64_t mean;
  const std::int64_t* units;
  Word* out;  // twice kWideWords
};

// The sum over outputs of sign * gradient, and its largest magnitude.
struct Combine {
  static constexpr int kThreads = 256;
  const double* g;
  Word rows;
  std::uint32_t outputs;
  const std::int8_t* signs;
  NumberGrid grid;
  double length;
  double* out;
  Word* largest;
};

// For every output the sum of weight * q * z, where z is 1 or -1.
struct Probe {
  static constexpr int kThreads = 256;
  const std::int32_t* q;
  Word rows;
  std::uint32_t outputs;
  const Word* keys;
  Word number;
  const std::int64_t* units;
  Word* out;
};

// Which bins go left; or, without bins, which rows are drawn.
struct SplitJob {
  RowList from;
  const std::uint8_t* bins;
  std::uint32_t step;
  Word left[kCells / 64];
  Word key;
  double share;
  Row* rows;        // the children's: the left one's begin here, the right one's end at the node's end
  std::int32_t* q;  // nullptr: not needed
  Word* sums;       // kSplitWords
};

struct Split {
  static constexpr int kThreads = 256;
  static constexpr size_t kLeft = 0, kRight = 1, kWeight = 2, kGradient = 3, kSquares = 4,
                          kWords = kSquares + kWideWords;
  const SplitJob* jobs;
  const Task* tasks;
  const std::int64_t* units;
};

struct HistogramJob {
  RowList rows;
  const std::uint8_t* bins;
  std::uint32_t step;     // bytes from row to row
  std::uint32_t width;    // a power of two: columns side by side
  std::uint32_t columns;  // bits of those that are wanted
  std::uint32_t cells;    // the most of any of them
  std::int64_t* out;      // of the first column, in a tile
};

struct Histogram {
  static constexpr int kThreads = 512;
  const HistogramJob* jobs;
  const Task* tasks;
};

struct WeightedHistogram {
  static constexpr int kThreads = 1024;
  const HistogramJob* jobs;
  const Task* tasks;
  const std::int64_t* units;
};

struct Column {
  std::uint16_t bins;
  std::uint8_t missing, categorical;
  std::int8_t trend;
  std::uint8_t unused[3];
};

struct FoundSplit {
  double gain, reach;
  std::uint32_t bin, missing;
};

struct ScanJob {
  const std::int64_t* cells;  // of the first tile
  const std::int64_t* minus;  // nullptr: nothing is taken off
  std::int64_t* store;        // nullptr: the difference is not kept
  const Column* columns;
  FoundSplit* out;
  std::int64_t gradient, weight;
  double factor;
  double low, high;      // the node's range
  std::uint32_t wanted;  // of 32 columns; not looked at if there are more
  std::uint32_t at_root;
};

// A block for each job and column.
struct Scan {
  static constexpr int kThreads = 256;
  const ScanJob* jobs;
  std::uint32_t columns;  // of every job
  double min_weight;
};

struct LeafSum {
  static constexpr int kThreads = 256;
  static constexpr size_t kWords = 2 * kWideWords;  // of every leaf
  const RowList* leaves;
  const Task* tasks;
  const double* g;
  const double* h;
  NumberGrid grid_g, grid_h;
  const std::int64_t* units;
  Word* out;
};

// Numbers of rows of which quantiles are sought: y - raw, and along a line its ratio to the score.
struct Sought {
  const RowList* lists;
  const Task* tasks;
  const double* y;
  const double* raw;
  const std::int64_t* units;
  const std::uint8_t* bins;  // nullptr: no line
  std::uint32_t step;
  const std::int16_t* scores;
  double intercept;
};

// The weights by the next eight bits of the numbers' keys.
struct Digits {
  static constexpr int kThreads = 256;
  static constexpr size_t kDigits = 256;
  Sought sought;
  const Word* prefixes;  // of every list
  std::int32_t left;     // bits that are not known yet
  Word* out;
};

// The weight of the numbers with a key, and the next larger key, as its complement.
struct Nearest {
  static constexpr int kThreads = 256;
  Sought sought;
  const Word* keys;
  Word* out;  // two words for every list
};

// The weights of rows with a positive and with a negative score, times their scores.
struct Sides {
  static constexpr int kThreads = 256;
  Sought sought;
  Word* out;
};

struct AddLeaves {
  static constexpr int kThreads = 256;
  const RowList* leaves;
  const Task* tasks;
  const double* values;
  double* raw;
};

struct WalkNode {
  const std::uint8_t* bins;  // nullptr: a leaf
  std::uint32_t step;
  std::int32_t left;
  Word goes_left[kCells / 64];
  double value;
};

struct Walk {
  static constexpr int kThreads = 256;
  const WalkNode* nodes;
  RowList rows;
  double* raw;
};

struct AddLine {
  static constexpr int kThreads = 256;
  const std::uint8_t* bins;
  std::uint32_t step;
  const std::int16_t* scores;
  Word rows;
  double value, slope;
  double* raw;
};

// Sums of w g, w g z, w h, w h z, w h z^2.
struct LineSum {
  static constexpr int kThreads = 256;
  static constexpr size_t kSums = 5;
  RowList rows;
  const std::uint8_t* bins;
  std::uint32_t step;
  const std::int16_t* scores;
  const double* g;
  const double* h;
  NumberGrid grid_g, grid_h;
  const std::int64_t* units;
  Word* out;
};

struct DotJob {
  const std::int64_t* cells;  // of the column's first bin
  const std::int16_t* scores;
  std::uint32_t count;
};

// From histograms the sums of w z, w z^2 and w q z; a block for each column.
struct Dot {
  static constexpr int kThreads = 256;
  static constexpr size_t kWords = 3 * kWideWords;
  const DotJob* jobs;
  Word* out;
};

struct CurvatureColumn {
  const std::uint8_t* bins;  // nullptr: the constant
  const std::int16_t* scores;
  std::uint32_t step;
};

// Sums of w h z_i z_j for a square of pairs, and for some rows.
struct Curvature {
  static constexpr int kThreads = 256;
  static constexpr std::uint32_t kSide = 16, kRows = 64, kBlockRows = 8192;
  const CurvatureColumn* columns;
  std::uint32_t count, squares;  // columns, and squares of pairs in a row of them
  RowList rows;
  const double* h;
  NumberGrid grid;
  const std::int64_t* units;
  Word* out;  // count * count sums
};

// Gradients of some rows, and their sum.
struct Gather {
  static constexpr int kThreads = 256;
  const Row* rows;
  Word count;
  const std::int32_t* q;
  std::int32_t* out;
  Word* sum;
};

// clang-format off
#define FRUGAL_KERNELS(KERNEL) \
  KERNEL(Pack) KERNEL(Fill) KERNEL(Shift) KERNEL(LossOfRows) KERNEL(Quantize) KERNEL(Change) KERNEL(Combine) \
  KERNEL(Probe) KERNEL(Split) KERNEL(Histogram) KERNEL(WeightedHistogram) KERNEL(Scan) KERNEL(LeafSum) \
  KERNEL(Digits) KERNEL(Nearest) KERNEL(Sides) KERNEL(AddLeaves) KERNEL(Walk) KERNEL(AddLine) KERNEL(LineSum) \
  KERNEL(Dot) KERNEL(Curvature) KERNEL(Gather)
// clang-format on

enum class Kernel : std::int32_t {
#define FRUGAL_NUMBER(name) name,
  FRUGAL_KERNELS(FRUGAL_NUMBER)
#undef FRUGAL_NUMBER
};

template <class Arguments>
struct NumberOf;
#define FRUGAL_NUMBER(name)                       \
  template <>                                     \
  struct NumberOf<name> {                         \
    static constexpr Kernel value = Kernel::name; \
  };
FRUGAL_KERNELS(FRUGAL_NUMBER)
#undef FRUGAL_NUMBER

}  // namespace frugal::device
