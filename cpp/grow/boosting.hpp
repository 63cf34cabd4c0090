// The boosting loop.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "data/params.hpp"
#include "engine/engine.hpp"
#include "grow/constraints.hpp"
#include "grow/offered.hpp"
#include "price/ledger.hpp"
#include "support/threads.hpp"
#include "tree/tree.hpp"

namespace frugal {

// The state of an earlier fit that boosting continues from. The engine has its raw predictions.
struct Progress {
  int iterations = 0;
  std::vector<double> start;  // raw start values; empty: a new fit
  std::vector<Purchase> purchases;
  std::vector<double> validation_losses;  // of the start and every iteration, or what judges them; empty: not known
  DrawState draw;
  bool split_last = false;  // whether the last iteration split anything
};

// The state after an iteration; the first record is that of the start value.
struct Record {
  int iteration;
  double train_loss, validation_loss;  // NaN: no validation rows
  size_t features;
  double cost;
  double row_cost;  // what rows have paid of that, on average
};

enum class Ending { max_iter, converged, early_stopping, callback };

struct Boosted {
  Ensemble ensemble;  // the trees grown by this call
  std::vector<Record> records;
  std::vector<Purchase> purchases;       // of all calls, in order
  std::vector<int> purchase_iterations;  // of the purchases of this call, counted from 1
  double impurity = 0.0;                 // 1/2 sum w (g - mean)^2 at the start value
  double mu = 0.0;                       // in absolute units
  double mu_max = 0.0;                   // in the user's unit; only for a new fit
  int iterations = 0, best_iteration = 0;
  Ending ending = Ending::max_iter;
  DrawState draw;  // for a fit that continues from this one
};

// The best iteration so far: a later one replaces it only if its validation loss is lower by more than `tol`.
struct BestIteration {
  double loss = kInfinity;
  int iteration = 0;

  void judge(double validation_loss, int at, double tol) {
    if (!(validation_loss < loss - tol)) return;
    loss = validation_loss;
    iteration = at;
  }
};

using Observer = std::function<void(const Record&)>;

// What early stopping judges an iteration by in place of its validation loss, the smaller the better; and whether
// boosting stops here.
struct Verdict {
  std::optional<double> instead_of_loss;
  bool stop = false;
};
// Called after each observation of an iteration, with all purchases so far. Empty: nothing judges.
using Judge = std::function<Verdict(const Record&, const std::vector<Purchase>&)>;

// Grows trees until max_iter, until no split pays any more, or until the validation loss stops falling. `ledger` pays
// for the features that are bought.
Boosted boost(Engine& engine, Ledger ledger, const Params& params, const Constraints& constraints, const Progress& from,
              const Observer& observer, const Judge& judge, Context& context);

}  // namespace frugal
