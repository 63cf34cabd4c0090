#include "price/ledger.hpp"

#include <algorithm>

namespace frugal {

Ledger::Ledger(std::vector<std::unique_ptr<PriceRule>> rules, double budget)
    : rules_(std::move(rules)), prices_(rules_.front()->prices().size()), owned_(prices_.size()), budget_(budget) {
  add_up();
  start_prices_ = prices_;
}

void Ledger::settle(const Purchase& purchase) {
  const size_t f = purchase.feature;
  purchases_.push_back(purchase);
  paid_ += purchase.price;
  owned_[f] = 1;
  for (auto& rule : rules_) rule->bought(f, owned_);
  const std::vector<double> before = prices_;
  add_up();
  some_price_fell_ = false;
  for (size_t g = 0; g < prices_.size() && !some_price_fell_; ++g)
    some_price_fell_ = !owned_[g] && prices_[g] < before[g];
}

void Ledger::pay_by_rows(std::vector<double> prices, std::int64_t weight) {
  row_prices_ = std::move(prices);
  looked_.assign(row_prices_.size(), 0);
  weight_ = weight;
}

void Ledger::look(size_t f, std::int64_t weight) {
  looked_[f] += weight;
  paid_by_rows_ = 0.0;
  for (const Purchase& p : purchases_)
    if (by_rows(p.feature)) paid_by_rows_ += row_prices_[p.feature] * (real(looked_[p.feature]) / real(weight_));
}

void Ledger::add_up() {
  for (size_t f = 0; f < prices_.size(); ++f) {
    prices_[f] = 0.0;
    if (owned_[f]) continue;
    for (const auto& rule : rules_) prices_[f] += rule->prices()[f];
  }
}

std::vector<Purchase> buy_all(std::vector<std::unique_ptr<PriceRule>> rules, std::span<const size_t> features,
                              double budget, bool cheapest_first) {
  Ledger ledger(std::move(rules), budget);
  std::vector<size_t> waiting(features.begin(), features.end());
  auto price = [&](size_t f) { return ledger.price(f); };
  auto can_buy = [&](size_t f) { return ledger.can_buy(f); };
  while (true) {
    auto next = std::find_if(waiting.begin(), waiting.end(), can_buy);
    if (next == waiting.end()) return ledger.purchases();
    if (cheapest_first)  // the cheapest one is within the budget, since *next is
      next = std::min_element(next, waiting.end(), [&](auto f, auto g) { return price(f) < price(g); });
    ledger.buy(*next, 0.0);
    waiting.erase(next);
  }
}

}  // namespace frugal
