// The ledger: which features are owned, what was paid for them, and the price of every feature now. The fit has one
// ledger; the grower asks it for prices and tells it what was bought. Only the price rules know how prices are
// computed.
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
  // The price of a feature is the sum over all rules; at least one rule is needed.
  Ledger(std::vector<std::unique_ptr<PriceRule>> rules, double budget);

  size_t features() const { return prices_.size(); }
  bool owned(size_t f) const { return owned_[f]; }

  // The price now; zero if the feature is owned.
  double price(size_t f) const { return prices_[f]; }
  // The price before anything was bought.
  double start_price(size_t f) const { return start_prices_[f]; }

  bool can_buy(size_t f) const { return owned_[f] || within_budget(paid_ + prices_[f]); }
  // Always false for an infinite total. The slack allows sums such as 0.1 + 0.1 + 0.1 within a budget of 0.3.
  bool within_budget(double total) const { return total < kInfinity && total <= budget_ * (1.0 + 1e-9); }

  void buy(size_t f, double gain) { settle({f, prices_[f], gain}); }
  // Repeats a purchase of an earlier fit at the price that was paid then.
  void restore(const Purchase& purchase) { settle(purchase); }

  // Whether the last purchase made any other feature cheaper.
  bool some_price_fell() const { return some_price_fell_; }
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
  bool some_price_fell_ = false;
};

// Buys features within a budget, in the order given or the cheapest first (ties: in the order given). A feature that is
// not for sale until another one is bought, or too expensive until another purchase makes it cheaper, is bought after
// that purchase. Features that can never be bought are left out.
std::vector<Purchase> buy_all(std::vector<std::unique_ptr<PriceRule>> rules, std::span<const size_t> features,
                              double budget, bool cheapest_first);

}  // namespace frugal
