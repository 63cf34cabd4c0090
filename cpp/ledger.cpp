#include "ledger.hpp"

namespace frugal {

Ledger::Ledger(std::vector<std::unique_ptr<PriceRule>> rules, double budget)
    : rules_(std::move(rules)), prices_(rules_.front()->prices().size()), owned_(prices_.size()), budget_(budget) {
  add_up();
  start_prices_ = prices_;
}

void Ledger::settle(const Purchase& purchase) {
  const auto f = static_cast<size_t>(purchase.feature);
  purchases_.push_back(purchase);
  paid_ += purchase.price;
  owned_[f] = 1;
  for (auto& rule : rules_) rule->bought(f, owned_);
  add_up();
}

void Ledger::add_up() {
  for (size_t f = 0; f < prices_.size(); ++f) {
    prices_[f] = 0.0;
    if (owned_[f]) continue;
    for (const auto& rule : rules_) prices_[f] += rule->prices()[f];
  }
}

}  // namespace frugal
