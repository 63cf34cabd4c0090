// The border between deciding and computing. Everything as long as the table is behind it: bins, predictions,
// gradients, which row is in which node, histograms. Everything as short as the list of features or of nodes is in
// front of it: prices, proofs, purchases, trees. Prices never cross it.
//
// A second device or machine is another class derived from Engine. All numbers that come back are exact sums over all
// rows, wherever they lie, or follow from such sums by the formulas of docs/algorithm.md, so that every engine leads to
// the same model, to the last bit. tests/engine holds them to it.
#pragma once

#include <array>
#include <vector>

#include "data/binning.hpp"
#include "data/levels.hpp"
#include "tree/tree.hpp"

namespace frugal {

// Bounds are computed with rounding; this much on top makes them safe.
inline constexpr double kSafe = 1.0 + 1e-9;

// What is known of a column, the same for all parts of a table.
struct ColumnFacts {
  int bins = 1;  // of values; missing values have the bin of that number
  bool missing = false, categorical = false;
  // Sparse columns list the rows that are not in their usual bin. So much weight is listed, in units:
  bool sparse = false;
  std::int64_t listed_weight = 0;
  size_t place = kNone;  // of dense columns, in Pool::all

  int cells() const { return bins + missing; }
};

struct TableFacts {
  std::int64_t rows = 0;    // all that there are, wherever they lie
  std::int64_t weight = 0;  // of all of them, in units of 2^-weight_shift
  int weight_shift = 0;
  bool weighted = false;
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
  Wide squares = 0;           // sum of weight unit * q^2
};

enum class MissingSide : std::uint8_t { unseen, left, right };

// The best split of one node on one column by raw gain.
struct ColumnSplit {
  double gain = -1.0;  // not positive: no split is allowed
  std::uint16_t bin = 0;
  MissingSide missing = MissingSide::unseen;
  // Categorical columns, at the root: at least what any two sets of levels could gain there, were no side too light.
  float reach = 0.0f;
};

// Dense columns that are searched together. A mask over a pool has a bit for each of its columns, eight to a byte.
enum class Pool {
  all,
  offered,  // those that the trees of this iteration may buy
  owned,    // those that are searched at every node
};

// Up to eight columns of a pool at one node: those whose bits are set.
struct Piece {
  size_t node, byte;
  std::uint8_t wanted;
  std::array<ColumnSplit, 8> splits{};
};

// Which columns of a pool can't gain more than a limit at a node?
struct Doubt {
  size_t node;
  double least;   // of the limits of columns that are alive
  double lowest;  // of the limits of all that are not owned: unlike `least`, no answer of before can have changed it
  bool again;     // this node was asked about before
  std::vector<double> limits;        // by place
  std::vector<std::uint8_t>* alive;  // a mask; bits of such columns are cleared
};

// Sums over the rows that a sparse column lists.
struct Listed {
  double weight = 0.0, squares = 0.0;  // sum of weight, sum of weight * gradient^2
};

// Which rows of a node go left.
struct SplitRule {
  size_t node = 0, column = 0;
  int bin = 0, missing_bin = 0;  // bins up to `bin`, and that of missing values where missing_left says so,
  bool missing_left = false;
  bool listed = false;  // or the bins in this list:
  std::array<bool, kMostBins> goes_left{};
};

struct Losses {
  double train, validation;  // NaN: there are no validation rows
};

// How gradients change when constants are added to all raw predictions.
struct Moved {
  bool any = false;  // some raw prediction
  double loss = 0.0;
  struct Output {
    bool constant;             // gradients there
    double impurity, squares;  // 1/2 sum w (g - mean)^2 there; sum w (change - mean change)^2 from here to there
  };
  std::vector<Output> outputs;
};

struct LeafSums {
  double gradient, curvature, weight;  // in weight units
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual const TableFacts& table() const = 0;
  virtual size_t outputs() const = 0;
  virtual double step_limit() const = 0;     // of the loss
  virtual double leaf_quantile() const = 0;  // likewise; negative: it has curvature

  // Predictions. Raw predictions of all rows, training and validation, are constants at first, or those of the model
  // that boosting goes on from.
  virtual std::vector<double> best_constant() = 0;
  virtual void predict(std::span<const double> constants) = 0;
  virtual void predict_as_before() = 0;
  virtual Losses losses() = 0;
  // Gradients at the raw predictions of which the losses were asked for last.
  virtual void derive() = 0;
  virtual GradientFacts gradients(size_t output) const = 0;
  virtual double impurity(size_t output) = 0;  // 1/2 sum w (g - mean)^2
  // All raw predictions of an output plus full[output]; `any` says whether adding step[output] would change one.
  virtual Moved moved(std::span<const double> full, std::span<const double> step) = 0;

  // The trees of an iteration grow side by side, one for each output, level by level. Nodes are numbered within their
  // level: the roots by output, and 2 i and 2 i + 1 are the left and the right child of split i.
  virtual void begin_trees() = 0;
  // How far the gradients of an output have moved since the trees before: at least the root of sum w (change - mean
  // change)^2, infinite where it is not known. Asked for by every iteration or by none.
  virtual double gradient_move(size_t output) = 0;
  // Sums of the nodes that are open; squares only where asked for.
  virtual std::vector<NodeSums> begin_level(std::span<const std::uint8_t> open, bool squares) = 0;
  // Splits nodes; the others of the level that are in `leaves` are leaves from now on. Returns the children's rows and
  // weights.
  virtual std::vector<NodeSums> split(std::span<const SplitRule> splits, std::span<const size_t> leaves) = 0;

  // Pools. What `columns` returns holds until the pool changes. Columns that join the owned ones; those offered from
  // now on; those that are often searched by themselves.
  virtual std::span<const size_t> columns(Pool pool) const = 0;
  virtual void own(std::span<const size_t> columns) = 0;
  virtual void offer(std::span<const size_t> columns) = 0;
  virtual void expect(std::span<const size_t> columns) = 0;

  // Splits, once the level has begun. A whole pool at the nodes that are wanted: splits[node * columns + place].
  // `deeper`: so will the children be.
  virtual void search(Pool pool, std::span<const std::uint8_t> wanted, bool deeper, std::span<ColumnSplit> splits) = 0;
  virtual void search(Pool pool, std::span<Piece> pieces) = 0;
  // Sparse columns: splits[i * nodes + node] for columns[i].
  virtual void search_sparse(std::span<const size_t> columns, std::span<const std::uint8_t> wanted,
                             std::span<ColumnSplit> splits) = 0;
  // Gradient and weight of each bin of a column, missing values last.
  virtual std::vector<std::int64_t> cells(size_t node, size_t column) = 0;

  // Proofs that spare searches, where an engine has some.
  virtual bool can_rule_out() const = 0;
  virtual void expect_doubts(bool expected) = 0;  // in the trees that begin next
  virtual void rule_out(std::span<Doubt> doubts) = 0;
  virtual std::vector<Listed> listed(size_t output, std::span<const size_t> columns) = 0;  // of sparse columns

  // Leaves of an output's tree, in the order in which they became leaves.
  virtual std::vector<LeafSums> leaf_sums(size_t output) = 0;
  virtual std::vector<double> leaf_quantiles(size_t output, double level) = 0;  // of the residuals y - raw
  // Adds a tree to the raw predictions; its leaves in that order have these values.
  virtual void add_tree(size_t output, const Tree& tree, std::span<const double> leaf_values) = 0;
};

}  // namespace frugal
