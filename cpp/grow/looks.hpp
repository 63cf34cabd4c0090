// Which rows have looked at which columns, as far as prices per row need it: weights of rows by node and column.
// Without such prices nothing is asked of the engine.
#pragma once

#include <vector>

#include "engine/engine.hpp"
#include "price/ledger.hpp"

namespace frugal {

// Weights of the rows of a node, drawn or not.
struct NodeLooks {
  std::int64_t rows = 0;             // of all
  std::vector<std::int64_t> unseen;  // of those that have not looked at a column, by the column's number in Looks
};

class Looks {
 public:
  // Starts from what an earlier fit has bought.
  Looks(Engine& engine, Ledger& ledger);

  bool kept() const { return ledger_.by_rows(); }
  NodeLooks of_all_rows() const;

  // Asks for the weights of some nodes of the level. They stay right while rows of other trees look.
  void weigh(std::span<const size_t> numbers, std::span<NodeLooks* const> nodes);
  // All rows of a node look at a column; `others` are nodes of other trees, whose rows may be among them.
  void look(size_t node, const NodeLooks& at, size_t column, std::span<const size_t> numbers,
            std::span<NodeLooks* const> others);

  std::int64_t unseen(const NodeLooks& node, size_t column) const {
    if (number_.empty()) return 0;
    const size_t number = number_[column];
    return number < node.unseen.size() ? node.unseen[number] : node.rows;
  }

 private:
  Engine& engine_;
  Ledger& ledger_;
  std::vector<size_t> columns_;  // that some row has looked at and is to pay for
  std::vector<size_t> number_;   // of each column, or kNone
};

}  // namespace frugal
