// Price rules in Python.
#include <algorithm>

#include "bind/python.hpp"
#include "price/ledger.hpp"

namespace frugal {
namespace {

// Prices that a Python function sets anew after each purchase: phi(owned, last, prices) -> prices.
class CallablePrices final : public PriceRule {
 public:
  CallablePrices(std::vector<double> prices, nb::object phi) : PriceRule(std::move(prices)), phi_(std::move(phi)) {}
  CallablePrices(const CallablePrices& other) : PriceRule(other) {
    nb::gil_scoped_acquire lock;  // counting references needs it, on whatever thread the copy is made
    phi_ = other.phi_;
  }
  ~CallablePrices() override {
    nb::gil_scoped_acquire lock;
    phi_.reset();
  }
  std::unique_ptr<PriceRule> copy() const override { return std::make_unique<CallablePrices>(*this); }
  void bought(size_t f, std::span<const std::uint8_t> owned) override {
    nb::gil_scoped_acquire lock;
    nb::object flags = nb::cast(to_numpy(std::vector<std::uint8_t>(owned.begin(), owned.end()))).attr("view")("bool");
    auto answer = nb::cast<Doubles>(phi_(flags, f, to_numpy(std::vector<double>(prices_))));
    if (answer.size() != prices_.size()) throw std::invalid_argument("phi must give one price for each feature.");
    prices_.assign(answer.data(), answer.data() + answer.size());
  }

 private:
  nb::object phi_;
};

size_t checked(const BagPayer& payer, size_t feature) {
  if (feature >= payer.features()) throw std::invalid_argument("A feature that does not exist can't be bought.");
  return feature;
}

}  // namespace

Lists lists_of(const Longs& begin, const Ints& items, size_t size, size_t limit) {
  Lists lists{{begin.data(), begin.data() + begin.size()}, {items.data(), items.data() + items.size()}};
  bool fits = lists.begin.size() == size + 1 && lists.begin.front() == 0 &&
              lists.begin.back() == static_cast<std::int64_t>(lists.items.size());
  for (size_t i = 0; fits && i < size; ++i) fits = lists.begin[i] <= lists.begin[i + 1];
  for (std::int32_t item : lists.items) fits = fits && item >= 0 && static_cast<size_t>(item) < limit;
  if (!fits) throw std::invalid_argument("The lists of a price rule do not fit together.");
  return lists;
}

std::vector<std::unique_ptr<PriceRule>> copies_of(const std::vector<const PriceRule*>& rules) {
  if (rules.empty()) throw std::invalid_argument("At least one price rule is needed.");
  std::vector<std::unique_ptr<PriceRule>> copies;
  for (const PriceRule* rule : rules) copies.push_back(rule->copy());
  return copies;
}

void bind_prices(nb::module_& m) {
  nb::class_<PriceRule>(m, "PriceRule")
      .def_prop_ro(
          "prices",
          [](const PriceRule& r) { return to_numpy(std::vector<double>(r.prices().begin(), r.prices().end())); },
          nb::rv_policy::automatic, "Prices before anything is bought.");
  nb::class_<FeaturePrices, PriceRule>(m, "FeaturePrices")
      .def(
          "__init__",
          [](FeaturePrices* self, const Doubles& prices, const Longs& begin, const Ints& neighbours, double factor,
             double most) {
            const size_t n = prices.size();
            new (self) FeaturePrices(vector_of(prices), lists_of(begin, neighbours, begin.size() > 1 ? n : 0, n),
                                     factor, most);
          },
          "prices"_a, "begin"_a, "neighbours"_a, "factor"_a, "most"_a);
  nb::class_<BagPrices, PriceRule>(m, "BagPrices")
      .def(
          "__init__",
          [](BagPrices* self, const Longs& begin, const Ints& bags, const Doubles& bag_prices, double most,
             bool only_counts) {
            Lists lists = lists_of(begin, bags, begin.size() - 1, bag_prices.size());
            for (size_t f = 0; f < lists.size(); ++f)
              if (lists.of(f).empty()) throw std::invalid_argument("Every feature needs a bag.");
            new (self) BagPrices(std::move(lists), vector_of(bag_prices), most, only_counts);
          },
          "begin"_a, "bags"_a, "bag_prices"_a, "most"_a, "only_counts"_a = false);
  nb::class_<StagePrices, PriceRule>(m, "StagePrices")
      .def(
          "__init__",
          [](StagePrices* self, const Doubles& own, const Longs& stage_begin, const Ints& stages,
             const Doubles& stage_prices, const Longs& wait_begin, const Ints& waits_for, const Longs& cheaper_begin,
             const Ints& cheaper, const Doubles& factors) {
            const size_t n = own.size(), m = stage_prices.size();
            if (factors.size() != cheaper.size()) throw std::invalid_argument("One factor is needed for each item.");
            new (self) StagePrices(vector_of(own), lists_of(stage_begin, stages, n, m), vector_of(stage_prices),
                                   lists_of(wait_begin, waits_for, m, n), lists_of(cheaper_begin, cheaper, m, n),
                                   vector_of(factors));
          },
          "own"_a, "stage_begin"_a, "stages"_a, "stage_prices"_a, "wait_begin"_a, "waits_for"_a, "cheaper_begin"_a,
          "cheaper"_a, "factors"_a);
  nb::class_<CallablePrices, PriceRule>(m, "CallablePrices")
      .def(
          "__init__",
          [](CallablePrices* self, const Doubles& prices, nb::callable phi) {
            new (self) CallablePrices(vector_of(prices), phi);
          },
          "prices"_a, "phi"_a);
  nb::class_<BagPayer>(m, "BagPayer", "Which bag pays for each feature, bought one after another.")
      .def(
          "__init__",
          [](BagPayer* self, const Longs& begin, const Ints& bags, const Doubles& bag_prices) {
            if (begin.size() == 0) throw std::invalid_argument("Lists must say where each begins.");
            const Lists lists = lists_of(begin, bags, begin.size() - 1, bag_prices.size());
            for (size_t f = 0; f < lists.size(); ++f)
              if (lists.of(f).empty()) throw std::invalid_argument("Every feature must be in a bag.");
            new (self) BagPayer(lists, vector_of(bag_prices));
          },
          "begin"_a, "bags"_a, "bag_prices"_a)
      .def(
          "bag_of", [](const BagPayer& self, size_t f) { return self.bag_of(checked(self, f)); }, "feature"_a,
          "The bag that would pay now.")
      .def(
          "buy", [](BagPayer& self, size_t f) { return self.buy(checked(self, f)); }, "feature"_a,
          "Buy a feature; returns the bag that pays, which is owned from now on.");
  m.def(
      "buy_all",
      [](const std::vector<const PriceRule*>& rules, const Ints& features, double budget, bool cheapest_first) {
        std::vector<size_t> wanted;
        for (std::int32_t f : span_of<std::int32_t>(features)) {
          wanted.push_back(static_cast<size_t>(f));  // a negative one becomes too large
          for (const PriceRule* rule : rules)
            if (wanted.back() >= rule->prices().size())
              throw std::invalid_argument("A feature that does not exist can't be bought.");
        }
        std::vector<std::int32_t> order;
        std::vector<double> paid;
        for (const Purchase& p : buy_all(copies_of(rules), wanted, budget, cheapest_first)) {
          order.push_back(static_cast<std::int32_t>(p.feature));
          paid.push_back(p.price);
        }
        return std::tuple(to_numpy(std::move(order)), to_numpy(std::move(paid)));
      },
      "rules"_a, "features"_a, "budget"_a = kInfinity, "cheapest_first"_a = false,
      "Buy features one after another: (features, prices); those that can't be had are left out.");
}

}  // namespace frugal
