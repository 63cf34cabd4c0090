#include "grow/looks.hpp"

namespace frugal {

Looks::Looks(Engine& engine, Ledger& ledger) : engine_(engine), ledger_(ledger) {
  if (!kept()) return;
  number_.assign(ledger.features(), kNone);
  for (const Purchase& p : ledger.purchases())
    if (ledger.by_rows(p.feature)) columns_.push_back(p.feature);
  for (size_t i = 0; i < columns_.size(); ++i) number_[columns_[i]] = i;
}

NodeLooks Looks::of_all_rows() const {
  NodeLooks out;
  if (!kept()) return out;
  out.rows = engine_.table().weight;
  for (size_t c : columns_) out.unseen.push_back(ledger_.unseen(c));
  return out;
}

void Looks::weigh(std::span<const size_t> numbers, std::span<NodeLooks* const> nodes) {
  if (!kept() || numbers.empty()) return;
  const std::vector<std::int64_t> found = engine_.unseen(numbers, columns_);
  const size_t each = 1 + columns_.size();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto own = std::span(found).subspan(i * each, each);
    nodes[i]->rows = own[0];
    nodes[i]->unseen.assign(own.begin() + 1, own.end());
  }
}

void Looks::look(size_t node, const NodeLooks& at, size_t column, std::span<const size_t> numbers,
                 std::span<NodeLooks* const> others) {
  if (!ledger_.by_rows(column)) return;
  const std::int64_t weight = unseen(at, column);
  if (weight == 0) return;
  ledger_.look(column, weight);
  engine_.look(node, column);
  if (number_[column] == kNone) {
    number_[column] = columns_.size();
    columns_.push_back(column);
  }
  if (numbers.empty()) return;
  const std::vector<std::int64_t> found = engine_.unseen(numbers, {&column, 1});
  for (size_t i = 0; i < others.size(); ++i) {
    others[i]->unseen.resize(columns_.size(), others[i]->rows);  // new columns are those that no row had looked at
    others[i]->unseen[number_[column]] = found[2 * i + 1];
  }
}

}  // namespace frugal
