#include "price/prices.hpp"

#include <algorithm>
#include <utility>

namespace frugal {
namespace {

// What is never sold stays so: a factor of zero must not make it NaN.
void take_off(double& price, double factor) {
  if (price < kInfinity) price *= factor;
}

}  // namespace

void FeaturePrices::bought(size_t f, std::span<const std::uint8_t>) {
  if (neighbours_.size() > 0)
    for (std::int32_t g : neighbours_.of(f)) take_off(prices_[static_cast<size_t>(g)], factor_);
  left_ -= 1;
  if (left_ < 1) forbid_all();
}

size_t BagPayer::bag_of(size_t f) const {
  const auto bags = bags_.of(f);
  auto rank = [&](std::int32_t bag) {
    const auto b = static_cast<size_t>(bag);
    return std::pair(!owned_[b], price(b));
  };
  auto before = [&](std::int32_t a, std::int32_t b) { return rank(a) < rank(b); };
  return static_cast<size_t>(*std::min_element(bags.begin(), bags.end(), before));
}

size_t BagPayer::buy(size_t f) {
  const size_t bag = bag_of(f);
  owned_[bag] = 1;
  return bag;
}

BagPrices::BagPrices(Lists bags, std::vector<double> bag_prices, double most, bool only_counts)
    : PriceRule(std::vector<double>(bags.size())),
      payer_(std::move(bags), std::move(bag_prices)),
      left_(most),
      only_counts_(only_counts) {
  set_prices();
}

void BagPrices::set_prices() {
  for (size_t f = 0; f < prices_.size(); ++f) {
    const size_t bag = payer_.bag_of(f);
    const double price = only_counts_ ? 0.0 : payer_.price(bag);
    prices_[f] = payer_.owned(bag) || left_ >= 1 ? price : kInfinity;
  }
}

void BagPrices::bought(size_t f, std::span<const std::uint8_t>) {
  const bool paid_before = payer_.owned(payer_.bag_of(f));
  payer_.buy(f);
  if (paid_before) return;
  left_ -= 1;
  set_prices();
}

StagePrices::StagePrices(std::vector<double> own, Lists stages, std::vector<double> stage_prices, Lists waits_for,
                         Lists cheaper, std::vector<double> factors)
    : PriceRule(own),
      own_(std::move(own)),
      stages_(std::move(stages)),
      stage_prices_(std::move(stage_prices)),
      waits_for_(std::move(waits_for)),
      cheaper_(std::move(cheaper)),
      factors_(std::move(factors)),
      open_(stage_prices_.size()) {
  set_prices(std::vector<std::uint8_t>(own_.size()));
}

void StagePrices::set_prices(std::span<const std::uint8_t> owned) {
  std::vector<double> to_open(stage_prices_.size());
  for (size_t s = 0; s < to_open.size(); ++s) {
    const auto waits = waits_for_.of(s);
    const bool ready = std::all_of(waits.begin(), waits.end(), [&](auto f) { return owned[static_cast<size_t>(f)]; });
    to_open[s] = open_[s] ? 0.0 : ready ? stage_prices_[s] : kInfinity;
  }
  for (size_t f = 0; f < prices_.size(); ++f) {
    prices_[f] = own_[f];
    for (std::int32_t s : stages_.of(f)) prices_[f] += to_open[static_cast<size_t>(s)];
  }
}

void StagePrices::bought(size_t f, std::span<const std::uint8_t> owned) {
  for (std::int32_t stage : stages_.of(f)) {
    const auto s = static_cast<size_t>(stage);
    if (open_[s]) continue;
    open_[s] = 1;
    for (auto i = cheaper_.begin[s]; i < cheaper_.begin[s + 1]; ++i)
      take_off(own_[static_cast<size_t>(cheaper_.items[static_cast<size_t>(i)])], factors_[static_cast<size_t>(i)]);
  }
  set_prices(owned);
}

}  // namespace frugal
