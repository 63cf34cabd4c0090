// The ledger: which features are owned, what was paid for them, and the price of every feature now. The fit has one
// ledger; the grower asks it for prices and tells it what was bought. Only the price rules know how prices are
// computed.
//
// A feature may have a price per row besides: it is paid for every row that looks at the feature for the first time, as
// a share of the weight of all rows. So what was paid that way is the mean price of a prediction. It follows from the
// weights of the rows that have looked, which are whole numbers, and not from the order in which they did.
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

  // The price of owning the feature now; zero if it is owned.
  double price(size_t f) const { return prices_[f]; }
  // That, and what rows of this weight pay that have not looked at the feature.
  double price(size_t f, std::int64_t unseen) const {
    return by_rows(f) ? prices_[f] + row_prices_[f] * (real(unseen) / real(weight_)) : prices_[f];
  }
  // The price of a split of all rows before anything was bought.
  double start_price(size_t f) const { return by_rows(f) ? start_prices_[f] + row_prices_[f] : start_prices_[f]; }

  bool can_buy(size_t f) const { return owned_[f] || within_budget(paid() + prices_[f]); }
  bool can_buy(size_t f, std::int64_t unseen) const {
    return by_rows(f) && unseen > 0 ? within_budget(paid() + price(f, unseen)) : can_buy(f);
  }
  bool limited() const { return budget_ < kInfinity; }
  // Always false for an infinite total. The slack allows sums such as 0.1 + 0.1 + 0.1 within a budget of 0.3.
  bool within_budget(double total) const { return total < kInfinity && total <= budget_ * (1.0 + 1e-9); }

  void buy(size_t f, double gain) { settle({f, prices_[f], gain}); }
  // Repeats a purchase of an earlier fit at the price that was paid then.
  void restore(const Purchase& purchase) { settle(purchase); }

  // Prices per row, finite, and the weight of all rows. Without this call there are none.
  void pay_by_rows(std::vector<double> prices, std::int64_t weight);
  bool by_rows() const { return !row_prices_.empty(); }
  bool by_rows(size_t f) const { return by_rows() && row_prices_[f] > 0; }
  // Rows of this weight, which had not looked at the feature, do.
  void look(size_t f, std::int64_t weight);
  // The weight of all rows that have not looked at it.
  std::int64_t unseen(size_t f) const { return by_rows() ? weight_ - looked_[f] : 0; }

  // Whether the last purchase made any other feature cheaper.
  bool some_price_fell() const { return some_price_fell_; }
  double paid() const { return paid_ + paid_by_rows_; }
  double paid_by_rows() const { return paid_by_rows_; }
  const std::vector<Purchase>& purchases() const { return purchases_; }

 private:
  void settle(const Purchase& purchase);
  void add_up();

  std::vector<std::unique_ptr<PriceRule>> rules_;
  std::vector<double> prices_, start_prices_;
  std::vector<std::uint8_t> owned_;
  std::vector<Purchase> purchases_;
  double budget_, paid_ = 0.0;
  std::vector<double> row_prices_;    // empty: there are none
  std::vector<std::int64_t> looked_;  // the weight of the rows that have looked at each feature
  std::int64_t weight_ = 1;           // of all rows
  double paid_by_rows_ = 0.0;
  bool some_price_fell_ = false;
};

// Buys features within a budget, in the order given or the cheapest first (ties: in the order given). A feature that is
// not for sale until another one is bought, or too expensive until another purchase makes it cheaper, is bought after
// that purchase. Features that can never be bought are left out.
std::vector<Purchase> buy_all(std::vector<std::unique_ptr<PriceRule>> rules, std::span<const size_t> features,
                              double budget, bool cheapest_first);

}  // namespace frugal
