// All parameters of the user that reach the core, in one record. The table below is the only place in C++ that a new
// parameter needs: the record and its Python binding are made from it.
#pragma once

#include "support/types.hpp"

namespace frugal {

enum class MuUnit { share, absolute };
enum class LeafValues { newton, gradient };
enum class Init { prior, zero };
enum class Stop { paid, never };
enum class Screening { off, exact, probable };
enum class Base { trees, lines, both };  // what an iteration may add
enum class MultiStrategy { one_output_per_tree, multi_output_tree };
enum class LineScale { ranks, values };  // what lines are drawn on

// Of max_features: below 1 a share of the columns, from 1 on their number, or one of these.
inline constexpr double kAllColumns = 0.0, kRootOfColumns = -1.0, kLogOfColumns = -2.0;

// type, name, default
#define FRUGAL_PARAMS(PARAM)                                                   \
  PARAM(double, mu, 1e-3)                                                      \
  PARAM(MuUnit, mu_unit, MuUnit::share)                                        \
  PARAM(double, learning_rate, 0.1)                                            \
  PARAM(int, max_iter, 500)                                                    \
  PARAM(int, max_depth, 4)                                                     \
  /* 0: no limit, and trees grow level by level */                             \
  PARAM(int, max_leaf_nodes, 0)                                                \
  PARAM(Base, base, Base::trees)                                               \
  PARAM(MultiStrategy, multi_strategy, MultiStrategy::one_output_per_tree)     \
  PARAM(double, min_samples_leaf, 20)                                          \
  PARAM(double, l2_regularization, 0.0)                                        \
  PARAM(LeafValues, leaf_values, LeafValues::newton)                           \
  PARAM(Init, init, Init::prior)                                               \
  PARAM(Stop, stop, Stop::paid)                                                \
  PARAM(bool, early_stopping, false)                                           \
  PARAM(int, n_iter_no_change, 20)                                             \
  PARAM(double, tol, 0.0)                                                      \
  PARAM(Screening, screening, Screening::off)                                  \
  /* share of columns offered to a tree; negative: chosen from their number */ \
  PARAM(double, new_features, 1.0)                                             \
  /* probability of each row to be seen by the trees of an iteration */        \
  PARAM(double, subsample, 1.0)                                                \
  /* columns that the trees of an iteration may use; grow/drawn.hpp */         \
  PARAM(double, max_features, kAllColumns)                                     \
  PARAM(std::uint64_t, seed, 0)

struct Params {
#define FRUGAL_MEMBER(type, name, value) type name = value;
  FRUGAL_PARAMS(FRUGAL_MEMBER)
#undef FRUGAL_MEMBER
};

// How many trees an iteration grows. Lines belong to one output each, so where there may be lines, trees do too.
inline size_t trees_of(const Params& params, size_t outputs) {
  const bool for_all = params.multi_strategy == MultiStrategy::multi_output_tree && params.base == Base::trees;
  return for_all && outputs > 1 ? 1 : outputs;
}

}  // namespace frugal
