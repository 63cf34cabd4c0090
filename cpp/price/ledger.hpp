// The ledger: what is owned, what was paid, what everything costs now. It has one owner, the fit; the grower
// asks it for prices and tells it what was bought, and nobody else knows how prices come about.
#pragma once

#include <memory>
#include <vector>

#include "price/prices.hpp"
#include "support/types.hpp"

namespace frugal {

struct Purchase {
  size_t feature;
  double price;
  double gain;  // raw gain of the split that bought it
};

class Ledger {
 public:
  // Prices are the sum of the rules'; at least one is needed.
  Ledger(std::vector<std::unique_ptr<PriceRule>> rules, double budget);

  size_t features() const { return prices_.size(); }
  bool owned(size_t f) const { return owned_[f]; }

  // Price now; zero for what is owned.
  double price(size_t f) const { return prices_[f]; }
  // Price before anything was bought.
  double start_price(size_t f) const { return start_prices_[f]; }

  bool can_buy(size_t f) const { return owned_[f] || within_budget(paid_ + prices_[f]); }
  // Never true of an infinite price. A little slack keeps sums such as 0.1 + 0.1 + 0.1 inside a budget of 0.3.
  bool within_budget(double total) const { return total < kInfinity && total <= budget_ * (1.0 + 1e-9); }

  void buy(size_t f, double gain) { settle({f, prices_[f], gain}); }
  // Takes over what an earlier fit owned, at the price it paid then.
  void restore(const Purchase& purchase) { settle(purchase); }

  // Whether the last purchase made anything else cheaper.
  bool something_fell() const { return something_fell_; }
  double paid() const { return paid_; }
  const std::vector<Purchase>& purchases() const { return purchases_; }

 private:
  void settle(const Purchase& purchase);
  void add_up();

  std::vector<std::unique_ptr<PriceRule>> rules_;
  std::vector<double> prices_, start_prices_;
  std::vector<std::uint8_t> owned_;
  std::vector<Purchase> purchases_;
  double budget_, paid_ = 0.0;
  bool something_fell_ = false;
};

// Buys some features by the rules within a budget, as far as possible in the order given, or the cheapest first (of
// equals the first): what has no price yet, because it waits for another, or is too dear until another makes it
// cheaper, is bought after that. Features that can't be had are left out.
std::vector<Purchase> buy_all(std::vector<std::unique_ptr<PriceRule>> rules, std::span<const size_t> features,
                              double budget, bool cheapest_first);

}  // namespace frugal
