// Price rules: what every feature costs, given what was bought before. Each keeps one price per feature and changes
// them when something is bought; the ledger adds the rules up. A rule is a recipe: a fit works on a fresh copy.
#pragma once

#include <memory>
#include <vector>

#include "support/types.hpp"

namespace frugal {

// Lists of different lengths one after another: list i is items[begin[i]] ... items[begin[i + 1] - 1].
struct Lists {
  std::vector<std::int64_t> begin{0};
  std::vector<std::int32_t> items;

  size_t size() const { return begin.size() - 1; }
  std::span<const std::int32_t> of(size_t i) const {
    return std::span(items).subspan(static_cast<size_t>(begin[i]), static_cast<size_t>(begin[i + 1] - begin[i]));
  }
};

class PriceRule {
 public:
  virtual ~PriceRule() = default;
  virtual std::unique_ptr<PriceRule> copy() const = 0;

  // Prices now; those of owned features are of no interest to anybody.
  std::span<const double> prices() const { return prices_; }
  // `f` has joined the owned features.
  virtual void bought(size_t f, std::span<const std::uint8_t> owned) = 0;

 protected:
  explicit PriceRule(std::vector<double> prices) : prices_(std::move(prices)) {}
  std::vector<double> prices_;
};

// A price for each feature; buying f multiplies the price of every feature in neighbours.of(f) by the factor.
// At most `most` features may be bought.
class FeaturePrices final : public PriceRule {
 public:
  FeaturePrices(std::vector<double> prices, Lists neighbours, double factor, double most)
      : PriceRule(std::move(prices)), neighbours_(std::move(neighbours)), factor_(factor), left_(most) {
    if (left_ < 1) forbid_all();
  }
  std::unique_ptr<PriceRule> copy() const override { return std::make_unique<FeaturePrices>(*this); }
  void bought(size_t f, std::span<const std::uint8_t> owned) override;

 private:
  void forbid_all() { prices_.assign(prices_.size(), kInfinity); }
  Lists neighbours_;  // empty: none
  double factor_, left_;
};

// Which bag pays for a feature, bought one after another: a bag that is owned already, or the cheapest of the feature's
// bags, the first of equals, which is owned from then on.
class BagPayer {
 public:
  // bags.of(f): the bags of feature f, at least one.
  BagPayer(Lists bags, std::vector<double> bag_prices)
      : bags_(std::move(bags)), prices_(std::move(bag_prices)), owned_(prices_.size()) {}

  size_t features() const { return bags_.size(); }
  size_t bag_of(size_t f) const;  // that would pay now
  bool owned(size_t bag) const { return owned_[bag] != 0; }
  double price(size_t bag) const { return owned_[bag] ? 0.0 : prices_[bag]; }
  // Returns the bag that pays.
  size_t buy(size_t f);

 private:
  Lists bags_;
  std::vector<double> prices_;
  std::vector<std::uint8_t> owned_;
};

// The first feature of a bag pays the bag, the others are free. A feature of several bags is free once any of them is
// owned, and otherwise pays the cheapest. At most `most` bags may be owned. A rule that only counts bags, beside
// another that is paid, asks for nothing as long as there is room.
class BagPrices final : public PriceRule {
 public:
  // bags.of(f): the bags of feature f, at least one.
  BagPrices(Lists bags, std::vector<double> bag_prices, double most, bool only_counts = false);
  std::unique_ptr<PriceRule> copy() const override { return std::make_unique<BagPrices>(*this); }
  void bought(size_t f, std::span<const std::uint8_t> owned) override;

 private:
  void set_prices();
  BagPayer payer_;
  double left_;
  bool only_counts_;
};

// Stages that must be passed before a feature can be had. A feature costs its own price and that of every stage on its
// way that is not open yet. A stage may wait for features that must be owned first, and may make others cheaper.
class StagePrices final : public PriceRule {
 public:
  StagePrices(std::vector<double> own, Lists stages, std::vector<double> stage_prices, Lists waits_for, Lists cheaper,
              std::vector<double> factors);
  std::unique_ptr<PriceRule> copy() const override { return std::make_unique<StagePrices>(*this); }
  void bought(size_t f, std::span<const std::uint8_t> owned) override;

 private:
  void set_prices(std::span<const std::uint8_t> owned);
  std::vector<double> own_;
  Lists stages_;  // of each feature, those before other stages included
  std::vector<double> stage_prices_;
  Lists waits_for_;              // of each stage: features
  Lists cheaper_;                // of each stage: features
  std::vector<double> factors_;  // for each item of cheaper_
  std::vector<std::uint8_t> open_;
};

}  // namespace frugal
