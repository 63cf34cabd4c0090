// Sparse columns that are not owned: which of them may be worth their price at which nodes. Sums over the few rows that
// a sparse column lists bound its gain at every node.
#pragma once

#include <vector>

#include "grow/bounds.hpp"
#include "grow/worth.hpp"
#include "support/threads.hpp"

namespace frugal {

class SparseColumns {
 public:
  SparseColumns(Engine& engine, const Worth& worth, double min_weight);

  // Columns that list enough rows for a split.
  const std::vector<size_t>& worth_searching() const { return worth_searching_; }

  void begin_trees(size_t trees);

  // Which of some columns may be worth their price at which of some nodes?
  struct Question {
    std::span<const size_t> columns;
    std::span<const Node> level;
    std::span<const size_t> nodes;
    std::span<const double> least_gains;  // by node of the level
    const RootBounds* root_bounds;        // nullptr: not at the root
    bool screening;                       // leave out columns that can't be worth their price
    bool only_new;                        // leave out columns that can't be bought, or are searched with the owned ones
  };
  // The columns that must be searched, and the nodes.
  struct Answer {
    std::vector<size_t> columns, nodes;
  };
  template <class IsNew>
  Answer left(const Question& question, const IsNew& is_new, bool drawn, Context& context) {
    if (question.only_new) price(question.columns, is_new, drawn);
    return left(question, context);
  }

 private:
  // A node at which a new column may be worth its price, and what its bound needs.
  struct Demand {
    size_t node, output;
    double least_gain, weight, mean;  // mean: magnitude of the mean gradient
    const Node* at;
  };

  template <class IsNew>
  void price(std::span<const size_t> columns, const IsNew& is_new, bool drawn) {
    // Prices stay the same until a feature is bought or other columns are drawn.
    const std::pair now(worth_.ledger().purchases().size(), drawn ? iterations_ : 0);
    if (priced_at_ == now) return;
    priced_at_ = now;
    prices_.clear();
    cheapest_ = kInfinity;
    for (size_t c : columns) {
      // Without what rows pay for it, which depends on the node.
      const double price = is_new(c) ? worth_.limit(c, 0, 0.0) : kInfinity;
      if (!(price < kInfinity)) continue;
      cheapest_ = std::min(cheapest_, price);
      prices_.emplace_back(c, price);
    }
  }
  Answer left(const Question& question, Context& context);
  std::vector<Demand> demands(const Question& question) const;
  void measure(std::span<const size_t> columns);
  double limit(size_t column, double price, const Demand& demand) const;
  bool listed_may_pay(size_t column, double price, std::span<const Demand> demands) const;
  bool root_may_pay(size_t column, double price, std::span<const Demand> demands, const RootBounds& bounds) const;

  Engine& engine_;
  const Worth& worth_;
  double least_weight_;  // of a leaf
  std::vector<size_t> worth_searching_;
  std::vector<std::pair<size_t, double>> prices_;  // mu times the price of each column that can be bought
  double cheapest_ = kInfinity;
  std::pair<size_t, std::uint32_t> priced_at_{kNone, 0};  // purchases at that time, and the iteration if drawn
  std::uint32_t iterations_ = 0;
  bool measured_ = false;  // listed_ belongs to the gradients of these trees
  size_t trees_ = 0;
  std::vector<std::vector<ListedSums>> listed_;  // by tree and column
};

}  // namespace frugal
