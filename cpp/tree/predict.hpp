// Raw predictions of an ensemble, from values or from bins.
#pragma once

#include <cmath>

#include "data/binning.hpp"
#include "data/source.hpp"
#include "price/ledger.hpp"
#include "support/threads.hpp"
#include "tree/tree.hpp"

namespace frugal {

// A read-only look at an ensemble's arrays, wherever they live.
struct EnsembleView {
  std::span<const double> start;
  std::span<const std::int64_t> tree_begin;
  std::span<const std::int32_t> feature, left;
  std::span<const std::uint8_t> missing_left;
  std::span<const double> threshold, value;
  std::span<const std::int32_t> level_set;
  std::span<const std::uint8_t> sets;

  size_t outputs() const { return start.size(); }
  size_t trees() const { return tree_begin.size() - 1; }

  bool goes_left(size_t node, double v) const {
    if (std::isnan(v)) return missing_left[node] != 0;
    if (level_set[node] < 0) return v <= threshold[node];
    // What is not the number of a bin is no known level.
    return v >= 0 && v < kMostBins
               ? contains(sets.data() + size_t{kSetBytes} * static_cast<size_t>(level_set[node]), static_cast<int>(v))
               : missing_left[node] != 0;
  }

  // Throws a sentence where the arrays do not describe trees over `features` columns, so that a damaged or
  // hostile file can't lead a prediction outside them.
  void check(size_t features) const;
};

// The columns that trees [first, last) look at, and where the column of every node of theirs stands among them.
struct UsedColumns {
  size_t base;                       // the first node
  std::vector<size_t> columns;       // ascending
  std::vector<std::uint32_t> place;  // of node base + i

  UsedColumns(const EnsembleView& model, size_t first, size_t last);
};

// Some rows of the used columns, read at once.
class Block {
 public:
  static constexpr size_t kRows = 128;

  explicit Block(const UsedColumns& used) : used_(used), values_(used.columns.size() * kRows) {}
  // Throws where a value is infinite.
  void read(const Source& X, size_t begin, size_t end);
  // What node `node` looks at in row `begin + r`.
  double at(size_t node, size_t r) const { return values_[used_.place[node - used_.base] * kRows + r]; }
  const double* values() const { return values_.data(); }

 private:
  const UsedColumns& used_;
  std::vector<double> values_;
};

// Adds trees [first, last) to raw[output * rows + row]. Trees are added one after another, as in training, so
// the result is the same to the last bit. Only columns that the trees look at are read.
void add_trees(const EnsembleView& model, const Source& X, size_t first, size_t last, double* raw, Context& context);

// What predictions cost when a feature is fetched, and paid for, only once a row's path through the trees looks at it.
struct PathPrices {
  std::vector<double> rows;        // of each row, after all trees
  std::vector<double> iterations;  // mean over rows, after each iteration
};
// The features of a row are paid for by the rules, in the order of `purchases`; where the rules ask for something that
// this row does not fetch, the price that training paid stands in.
PathPrices path_prices(const EnsembleView& model, const Source& X, std::span<const PriceRule* const> rules,
                       std::span<const Purchase> purchases, size_t last, Context& context);

// Adds one tree, with output fixed by the caller, for rows given in bins.
void add_tree(const Tree& tree, const BinnedMatrix& X, double* raw, Context& context);

}  // namespace frugal
