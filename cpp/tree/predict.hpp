// Raw predictions of an ensemble, from values or from bins.
#pragma once

#include <cmath>

#include "data/binning.hpp"
#include "data/source.hpp"
#include "price/ledger.hpp"
#include "support/threads.hpp"
#include "tree/tree.hpp"

namespace frugal {

// A read-only view of an ensemble's arrays.
struct EnsembleView {
  std::span<const double> start;
  std::span<const std::int64_t> tree_begin;
  std::span<const std::int32_t> feature, left;
  std::span<const std::uint8_t> missing_left;
  std::span<const double> threshold, value;
  std::span<const std::int32_t> level_set;
  std::span<const std::uint8_t> sets;
  std::span<const std::int32_t> line;  // of each node: the number of a scale, or -1
  std::span<const double> slope;
  // Scales: a column's thresholds and the score of each of its bins, one more than thresholds. The thresholds of scale
  // s begin at scale_begin[s], its scores at scale_begin[s] + s.
  std::span<const std::int32_t> scale_feature;
  std::span<const std::int64_t> scale_begin;
  std::span<const double> scale_cuts, scale_scores;

  size_t outputs() const { return start.size(); }
  size_t trees() const { return tree_begin.size() - 1; }

  bool is_line(size_t node) const { return line[node] >= 0; }
  size_t scale(size_t node) const { return index(line[node]); }
  size_t line_column(size_t node) const { return index(scale_feature[scale(node)]); }
  // The score of a value; that of a missing one is 0.
  double score(size_t scale, double v) const;

  size_t root(size_t tree) const { return index(tree_begin[tree]); }  // root(trees()): the number of all nodes
  bool is_leaf(size_t node) const { return feature[node] < 0; }
  size_t column(size_t node) const { return index(feature[node]); }
  size_t left_child(size_t root, size_t node) const { return root + index(left[node]); }
  size_t child(size_t root, size_t node, double v) const { return left_child(root, node) + !goes_left(node, v); }

  bool goes_left(size_t node, double v) const {
    if (std::isnan(v)) return missing_left[node] != 0;
    if (level_set[node] < 0) return v <= threshold[node];
    // A value that is not the number of a bin is an unknown level, and treated as missing.
    return v >= 0 && v < real(kMostBins)
               ? contains(sets.data() + kSetBytes * index(level_set[node]), truncated<std::uint8_t>(v))
               : missing_left[node] != 0;
  }

  // Throws if the arrays do not describe trees over `features` columns, so that a damaged or hostile file can't make a
  // prediction read outside of them.
  void check(size_t features) const;

 private:
  void check_trees(size_t features) const;
  void check_lines(size_t features) const;
};

// The columns that trees [first, last) split on or have lines on, and for each of their nodes the place of its column
// among these.
struct UsedColumns {
  size_t base;                       // the first node
  std::vector<size_t> columns;       // ascending
  std::vector<std::uint32_t> place;  // of node base + i

  UsedColumns(const EnsembleView& model, size_t first, size_t last);
};

// The values of a block of rows in the used columns.
class Block {
 public:
  static constexpr size_t kRows = 128;

  explicit Block(const UsedColumns& used) : used_(used), values_(used.columns.size() * kRows) {}
  // Throws if a value is infinite.
  void read(const Source& X, size_t begin, size_t end);
  // The value of row `begin + r` in the column that `node` splits on, or whose line it is.
  double at(size_t node, size_t r) const { return values_[used_.place[node - used_.base] * kRows + r]; }
  const double* values() const { return values_.data(); }

 private:
  const UsedColumns& used_;
  std::vector<double> values_;
};

// Adds trees [first, last) to raw[output * rows + row]. Trees are added one after another, as in training, so the
// result is the same to the last bit. Only columns that the trees split on are read.
void add_trees(const EnsembleView& model, const Source& X, size_t first, size_t last, double* raw, Context& context);

// The leaf of every row in the first `last` trees, counted from the root of each: row after row. A line is its own
// leaf.
std::vector<std::int32_t> leaves_of_rows(const EnsembleView& model, const Source& X, size_t last, Context& context);

// The cost of predictions if a feature is fetched, and paid for, only when a row's path through the trees needs it.
struct PathPrices {
  std::vector<double> rows;        // of each row, after all trees
  std::vector<double> iterations;  // mean over rows, after each iteration
};
// The features that a row needs are bought by the rules, in the order of `purchases`. If a rule requires a feature that
// this row does not need, the price paid in training is used instead.
PathPrices path_prices(const EnsembleView& model, const Source& X, std::span<const PriceRule* const> rules,
                       std::span<const Purchase> purchases, size_t last, Context& context);

// Adds one tree for rows given in bins, but for those in `except`, which ascend. `raw`: the predictions of the tree's
// output.
void add_tree(const Tree& tree, const BinnedMatrix& X, std::span<const Row> except, double* raw, Context& context);

}  // namespace frugal
