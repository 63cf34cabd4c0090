// The plain records that pass between the stages of the core. No behaviour lives here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace frugal {

using std::size_t;
using Row = std::uint32_t;  // a table holds at most 2^32 - 1 rows
using Wide = __int128;      // sums that must never overflow or round

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class MuUnit { share, absolute };
enum class LeafValues { newton, gradient };
enum class Init { prior, zero };
enum class Stop { paid, never };
enum class Screening { off, exact, probable };

// Everything a user can set that reaches the core; travels whole.
struct Params {
  double mu = 1e-3;
  MuUnit mu_unit = MuUnit::share;
  double learning_rate = 0.1;
  int max_iter = 500;
  int max_depth = 4;
  double min_samples_leaf = 20;
  double l2_regularization = 0.0;
  LeafValues leaf_values = LeafValues::newton;
  Init init = Init::prior;
  Stop stop = Stop::paid;
  bool early_stopping = false;
  int n_iter_no_change = 20;
  double tol = 0.0;
  Screening screening = Screening::off;
  double new_features = 1.0;  // share of the columns that a tree may buy; negative: chosen by their number
  std::uint64_t seed = 0;     // decides which
};

enum class MissingSide : std::uint8_t { unseen, left, right };

// The best split of one node on one column, judged by raw gain alone: prices are the grower's affair.
struct ColumnSplit {
  double gain = -1.0;  // not positive: no split is allowed
  std::uint16_t bin = 0;
  MissingSide missing = MissingSide::unseen;
  // Categorical columns, at the root: at least what any two sets of levels could gain there, were no side too light.
  float reach = 0.0f;
};

// A node that may still be split. Its rows are [begin, end) of one of the row partition's two lists for its output.
struct OpenNode {
  int output = 0;  // whose tree it is in
  int id = 0;      // place in the tree
  Row begin = 0, end = 0;
  int list = 0;
  std::int64_t weight = 0;    // exact sum over the rows, in fixed-point units
  std::int64_t gradient = 0;  // likewise, once its level is searched
  Wide squares = 0;           // sum of weight * gradient^2, where somebody asked for it
  Row rows() const { return end - begin; }
};

}  // namespace frugal
