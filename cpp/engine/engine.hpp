// The border between deciding and computing. Everything that has one entry per row is behind it: bins, predictions,
// gradients, the rows of each node, histograms. Everything that has one entry per feature or per node is in front of
// it: prices, bounds, purchases, trees. Prices never cross it.
//
// A second device or machine is another class derived from Engine. All numbers that it returns are exact sums over all
// rows of all parts of the table, or follow from such sums by the formulas of docs/algorithm.md, so every engine leads
// to the same model, to the last bit. tests/engine checks that.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "data/binning.hpp"
#include "data/levels.hpp"
#include "data/scores.hpp"
#include "data/target.hpp"
#include "support/missing_side.hpp"
#include "support/mixing.hpp"
#include "tree/tree.hpp"

namespace frugal {

// Bounds are computed with rounding errors; multiplied by this they hold nevertheless.
inline constexpr double kRoundingSlack = 1.0 + 1e-9;

// Facts about a column, the same in all parts of a table.
struct ColumnFacts {
  Bin bins = 1;  // of values; missing values are in the bin of that number
  bool missing = false, categorical = false;
  bool sparse = false;             // only the rows that are not in the column's usual bin are listed
  std::int64_t listed_weight = 0;  // the weight of these rows, in units
  size_t place = kNone;            // of a dense column, in Pool::all
  std::int8_t trend = 0;           // 1: predictions must not fall as values rise, -1: not rise; 0: no constraint

  size_t cells() const { return size_t{bins} + missing; }  // of a histogram
};

struct TableFacts {
  std::int64_t rows = 0;    // of all parts of the table
  std::int64_t weight = 0;  // of all these rows, in units of 2^-weight_shift
  int weight_shift = 0;
  bool weighted = false;
  size_t targets = 1;  // columns of y: one for each output, or one for all classes
  std::vector<ColumnFacts> columns;
  const Thresholds* thresholds = nullptr;
};

// The gradients of one output are integers q; gradient = q * 2^-shift.
struct GradientFacts {
  int shift = 0;
  std::int64_t total = 0;  // sum of weight unit * q
  std::int32_t lowest = 0, highest = 0;
  bool constant() const { return lowest == highest; }
};

// Exact sums over the rows of a node.
struct NodeSums {
  std::int64_t rows = 0, weight = 0;
  std::int64_t gradient = 0;  // sum of weight unit * q
  Int128 squares = 0;         // sum of weight unit * q^2
};

// Between which values the mean gradient of a node counts, in units of q: a constraint above it decides that.
struct ValueRange {
  double low = -kInfinity, high = kInfinity;

  bool limited() const { return low > -kInfinity || high < kInfinity; }
  double value(double mean) const { return std::min(std::max(mean, low), high); }
  double value(const NodeSums& node) const { return value(real(node.gradient) / real(node.weight)); }
};

// The best split of one node on one column by raw gain.
struct ColumnSplit {
  double gain = -1.0;  // not positive: no split is allowed
  Bin bin = 0;
  MissingSide missing = MissingSide::unseen;
  // For categorical columns at the root: an upper bound on the gain of any two sets of levels, of any weight.
  float reach = 0.0f;
};

// Dense columns that are searched together. A mask over a pool has one bit for each of its columns (support/mask.hpp).
enum class Pool {
  all,
  offered,  // columns that the trees of this iteration may buy
  owned,    // columns that are searched at every node
};
inline constexpr size_t kPools = 3;
inline size_t number_of(Pool pool) {
  return static_cast<size_t>(pool);
}

// Up to eight columns of a pool at one node.
struct Piece {
  size_t node, byte;    // which byte of a mask over the pool
  std::uint8_t wanted;  // the columns whose bits are set
  std::array<ColumnSplit, 8> splits{};
};

// A question to the engine: which columns of Pool::all can't gain more than their limits at a node?
struct ScreeningQuery {
  size_t node;
  double least;                // the lowest limit of the columns in `alive`
  double lowest;               // the lowest limit of all columns that are not owned; does not depend on earlier answers
  bool again;                  // this node was asked about before
  std::vector<double> limits;  // by place
  std::vector<std::uint8_t>* alive;  // a mask; the answer clears the bits of columns that are ruled out
};

// Sums over the rows that a sparse column lists.
struct ListedSums {
  double weight = 0.0, squares = 0.0;  // sum of weight, sum of weight * gradient^2
};

// Which rows of a node go left.
struct SplitRule {
  size_t node = 0, column = 0;
  bool listed = false;                      // whether the split is by a list of bins
  std::array<bool, kMostBins> goes_left{};  // the list
  // If not, bins up to `bin` go left, and `missing_bin` does if `missing_left`.
  Bin bin = 0, missing_bin = 0;
  bool missing_left = false;
};

struct Losses {
  double train, validation;  // NaN: there are no validation rows
};

// How loss and gradients change if constants are added to all raw predictions.
struct Moved {
  bool any = false;   // whether a step changes any raw prediction
  double loss = 0.0;  // the mean loss after the move
  struct Output {
    bool constant;    // whether all gradients are equal after the move
    double impurity;  // 1/2 sum w (g - mean)^2 after the move
    double squares;   // sum w (change - mean change)^2 of the gradients
  };
  std::vector<Output> outputs;
};

// Which rows the trees of an iteration see: each row by itself with probability `share`, by a hash of its number in the
// whole table. Rows that are not drawn only get the values of the leaves that they fall into.
struct RowDraw {
  std::uint64_t key = 0;
  double share = 1.0;

  bool all() const { return share >= 1.0; }
  // `number`: of the row in the whole table.
  bool has(std::uint64_t number) const { return real(mixed(key + (number + 1) * kMixStep) >> 11) * 0x1p-53 < share; }
};

struct LeafSums {
  double gradient, curvature, weight;  // weighted in units
};

// Sums over all rows of the scores of a column (data/scores.hpp), in units of weight and steps of 2^-kScoreBits.
struct ScoreSums {
  std::int64_t scores = 0;  // sum of weight unit * score
  Int128 squares = 0;       // sum of weight unit * score^2
};

// Sums over all rows that a Newton step along a line needs; z is the score, weights in units.
struct LineSums {
  double g, gz;       // sum w g, sum w g z
  double h, hz, hzz;  // sum w h, sum w h z, sum w h z^2
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual const TableFacts& table() const = 0;
  virtual size_t outputs() const = 0;
  virtual double step_limit() const = 0;               // of the loss
  virtual double leaf_quantile() const = 0;            // of the loss; negative: the loss has curvature
  virtual OutputScale scale(size_t output) const = 0;  // known after best_constant

  // Constraints, for one output. Both are only called if there are some: `constrain` before all else, with the trend
  // of every column, and `confine` after begin_level, with the range of every node. Gains are then those of values that
  // were brought into the range, and a split whose sides are not in the column's order is not allowed.
  virtual void constrain(std::span<const std::int8_t> trends) = 0;
  virtual void confine(std::span<const ValueRange> ranges) = 0;

  // Predictions. The raw predictions of all rows, training and validation, start as constants, or as those of the model
  // that boosting continues from.
  virtual std::vector<double> best_constant() = 0;
  virtual void predict(std::span<const double> constants) = 0;
  virtual void predict_as_before() = 0;
  virtual Losses losses() = 0;
  // Computes the gradients at the raw predictions of the last call of `losses`.
  virtual void derive() = 0;
  virtual GradientFacts gradients(size_t output) const = 0;
  virtual double impurity(size_t output) = 0;  // 1/2 sum w (g - mean)^2
  // Adds full[output] to all raw predictions of each output. `any` says whether adding step[output] would change one.
  virtual Moved moved(std::span<const double> full, std::span<const double> step) = 0;

  // The trees of an iteration grow together, level by level: one for each output, or one for all outputs, which is
  // searched on the sum over outputs of sign * gradient (-1, 0 or 1 for each output). Nodes are numbered within their
  // level: the roots by tree, and 2 i and 2 i + 1 are the left and the right child of split i.
  // Until the next call, all sums over the rows of nodes, leaves and lines are those of the drawn rows.
  virtual void begin_trees(std::span<const std::int8_t> signs, const RowDraw& draw) = 0;  // empty: one for each output
  virtual NodeSums root(size_t tree) const = 0;                                           // squares may be 0
  // The gradients on which a tree is searched: those of its output, scaled; or their sum with signs, each rounded to 40
  // bits for the largest of all, divided by the root of the number of signs that are not 0.
  virtual GradientFacts tree_gradients(size_t tree) const = 0;
  // For each output the sum of weight unit * q * z over all rows. z is 1 or -1, from the lowest bit of
  // mixed(key + number), where the row's key follows from its bins (data/row_keys.hpp).
  virtual std::vector<std::int64_t> probe(std::uint64_t number) = 0;
  // How far the gradients of an output have moved since the last call: an upper bound on the square root of
  // sum w (change - mean change)^2, or infinity if it is not known. Called in every iteration whose trees see all rows,
  // or in none.
  virtual double gradient_move(size_t output) = 0;
  // Sums of the open nodes; their squares only if `squares`.
  virtual std::vector<NodeSums> begin_level(std::span<const std::uint8_t> open, bool squares) = 0;
  // Splits nodes of the level; those in `leaves` become leaves; all others wait, and are in the next level behind the
  // children, in their order. Returns the rows and weights of the children.
  virtual std::vector<NodeSums> split(std::span<const SplitRule> splits, std::span<const size_t> leaves) = 0;

  // Looks: which rows were in a node that was split on a column (or a line on it), in any tree. `keep_looks` is called
  // before all else, if looks count at all; the others only then. Rows that were not drawn look, too.
  virtual void keep_looks() = 0;
  // The weight of the rows that looked at columns in an earlier fit, that this one continues.
  virtual std::vector<std::int64_t> looked(std::span<const size_t> columns) = 0;
  // For nodes of the level: the weight of all rows of a node, then of those that have not looked at each column.
  // By node, in numbers of 1 + columns.
  virtual std::vector<std::int64_t> unseen(std::span<const size_t> nodes, std::span<const size_t> columns) = 0;
  // All rows of a node of the level look at a column.
  virtual void look(size_t node, size_t column) = 0;
  // Called after `split` with the same nodes, if some rows were not drawn: these go the ways of the splits, in which it
  // is now decided where values go that no drawn row has.
  virtual void route(std::span<const SplitRule> splits, std::span<const size_t> leaves) = 0;

  // Pools. What `columns` returns is valid until the pool changes.
  virtual std::span<const size_t> columns(Pool pool) const = 0;
  virtual void own(std::span<const size_t> columns) = 0;     // adds columns to Pool::owned
  virtual void offer(std::span<const size_t> columns) = 0;   // replaces Pool::offered
  virtual void expect(std::span<const size_t> columns) = 0;  // columns that are likely to be searched one by one

  // Best splits of the nodes of the level. All columns of a pool at the nodes in `wanted`: splits[node * columns +
  // place]. `deeper`: the children will be searched in the same pool.
  virtual void search(Pool pool, std::span<const std::uint8_t> wanted, bool deeper, std::span<ColumnSplit> splits) = 0;
  virtual void search(Pool pool, std::span<Piece> pieces) = 0;
  // Sparse columns: splits[i * nodes + node] for columns[i].
  virtual void search_sparse(std::span<const size_t> columns, std::span<const std::uint8_t> wanted,
                             std::span<ColumnSplit> splits) = 0;
  // Gradient and weight of each bin of a column; that of missing values is last.
  virtual std::vector<std::int64_t> cells(size_t node, size_t column) = 0;

  // Screening: bounds that make searches unnecessary. An engine may rule out columns by itself.
  virtual bool can_rule_out() const = 0;
  virtual void expect_screening(bool expected) = 0;  // whether rule_out will be called in the next trees
  virtual void rule_out(std::span<ScreeningQuery> queries) = 0;
  virtual std::vector<ListedSums> listed(size_t tree, std::span<const size_t> columns) = 0;  // of sparse columns

  // The leaves of the tree of an output, or of all outputs, in the order in which they became leaves.
  virtual std::vector<LeafSums> leaf_sums(size_t output) = 0;
  virtual std::vector<double> leaf_quantiles(size_t output, double level) = 0;  // of the residuals y - raw
  // Adds a tree to the raw predictions; `leaf_values` are in the order of its leaves.
  virtual void add_tree(size_t output, const Tree& tree, std::span<const double> leaf_values) = 0;

  // Lines, at the gradients of the last `derive`.
  virtual std::vector<ScoreSums> score_sums(std::span<const size_t> columns) = 0;
  // Sum of weight unit * q * score, for each column.
  virtual std::vector<Int128> score_gradients(size_t output, std::span<const size_t> columns) = 0;
  virtual LineSums line_sums(size_t output, size_t column) = 0;
  // For losses without curvature: the slope that is best for the residuals y - raw - intercept, at a quantile's level.
  virtual double line_quantile(size_t output, size_t column, double intercept, double level) = 0;
  // The matrix of sum w h z_i z_j with a first z of 1, row after row up to the diagonal, at the derivatives of the last
  // `derive`. Every h is rounded to 23 bits on a grid for the largest, and scores to steps of 2^-6, halves up.
  virtual std::vector<double> curvatures(size_t output, std::span<const size_t> columns) = 0;
  // Adds value + slope * score to the raw predictions.
  virtual void add_line(size_t output, size_t column, double value, double slope) = 0;
};

}  // namespace frugal
