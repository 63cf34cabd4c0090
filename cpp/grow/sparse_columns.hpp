// Sparse columns that are not owned: which of them may be worth their price at which nodes. A column lists few rows, so
// that sums over these bound what it can gain anywhere.
#pragma once

#include <vector>

#include "grow/bounds.hpp"
#include "grow/worth.hpp"
#include "support/threads.hpp"

namespace frugal {

class SparseColumns {
 public:
  SparseColumns(Engine& engine, const Worth& worth, double min_weight);

  // Those in which enough rows differ from the rest for a split.
  const std::vector<size_t>& worth_searching() const { return worth_searching_; }

  void begin_trees();

  // What is asked for: some of the columns at some nodes, `least_gains` of which are known.
  struct Question {
    std::span<const size_t> columns;
    std::span<const Node> level;
    std::span<const size_t> nodes;
    std::span<const double> least_gains;  // by node of the level
    const RootBounds* root_bounds;        // nullptr: not at the root
    bool proofs;                          // leave out what can't pay
    bool prices_asked_for;                // leave out what can't be bought, or is searched with what is owned
  };
  // Which columns are to be searched at which nodes, after proofs.
  struct Answer {
    std::vector<size_t> columns, nodes;
  };
  template <class IsNew>
  Answer left(const Question& question, const IsNew& is_new, bool drawn, Context& context) {
    if (question.prices_asked_for) price(question.columns, is_new, drawn);
    return left(question, context);
  }

 private:
  // A node that has room for a new column, by what it would have to gain there.
  struct Demand {
    size_t node, output;
    double least_gain, weight, mean;  // mean: magnitude of the mean gradient
  };

  template <class IsNew>
  void price(std::span<const size_t> columns, const IsNew& is_new, bool drawn) {
    // Prices hold until somebody buys something or others are drawn.
    const std::pair now(worth_.ledger().purchases().size(), drawn ? iterations_ : 0);
    if (priced_at_ == now) return;
    priced_at_ = now;
    prices_.clear();
    cheapest_ = kInfinity;
    for (size_t c : columns) {
      const double price = is_new(c) ? worth_.limit(c, 0.0) : kInfinity;
      if (!(price < kInfinity)) continue;
      cheapest_ = std::min(cheapest_, price);
      prices_.emplace_back(c, price);
    }
  }
  Answer left(const Question& question, Context& context);
  std::vector<Demand> demands(const Question& question) const;
  void measure(std::span<const size_t> columns);
  bool listed_may_pay(size_t column, double price, std::span<const Demand> demands) const;
  static bool root_may_pay(size_t column, double price, std::span<const Demand> demands, const RootBounds& bounds);

  Engine& engine_;
  const Worth& worth_;
  double least_weight_;  // of a leaf
  std::vector<size_t> worth_searching_;
  std::vector<std::pair<size_t, double>> prices_;  // of columns that can be bought, times mu
  double cheapest_ = kInfinity;
  std::pair<size_t, std::uint32_t> priced_at_{kNone, 0};  // purchases then, and the iteration where it matters
  std::uint32_t iterations_ = 0;
  bool measured_ = false;                    // with the gradients of these trees
  std::vector<std::vector<Listed>> listed_;  // by output and column
};

}  // namespace frugal
