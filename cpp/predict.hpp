// Raw predictions of an ensemble, from numbers or from bins.
#pragma once

#include "binning.hpp"
#include "ledger.hpp"
#include "table.hpp"
#include "threads.hpp"
#include "tree.hpp"

namespace frugal {

// A read-only look at an ensemble's arrays, wherever they live.
struct EnsembleView {
  std::span<const double> start;
  std::span<const std::int64_t> tree_begin;
  std::span<const std::int32_t> feature, left;
  std::span<const std::uint8_t> missing_left;
  std::span<const double> threshold, value;

  size_t outputs() const { return start.size(); }
  size_t trees() const { return tree_begin.size() - 1; }

  // Throws a sentence where the arrays do not describe trees over `features` columns, so that a damaged or
  // hostile file can't lead a prediction outside them.
  void check(size_t features) const;
};

// Adds trees [first, last) to raw[output * rows + row]. Trees are added one after another, as in training, so
// the result is the same to the last bit.
void add_trees(const EnsembleView& model, const Table& X, size_t first, size_t last, double* raw, Context& context);

// What predictions cost when a feature is fetched, and paid for, only once a row's path through the trees looks at it.
struct PathPrices {
  std::vector<double> rows;        // of each row, after all trees
  std::vector<double> iterations;  // mean over rows, after each iteration
};
// The features of a row are paid for by the rules, in the order of `purchases`; where the rules ask for something that
// this row does not fetch, the price that training paid stands in.
PathPrices path_prices(const EnsembleView& model, const Table& X, std::span<const PriceRule* const> rules,
                       std::span<const Purchase> purchases, size_t last, Context& context);

// Adds one tree, with output fixed by the caller, for rows given in bins.
void add_tree(const Tree& tree, const BinnedMatrix& X, double* raw, Context& context);

}  // namespace frugal
