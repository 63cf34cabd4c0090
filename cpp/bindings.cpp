// The door between Python and the core: converts arrays, releases the interpreter lock, listens for Ctrl-C.
// No algorithm lives here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "ablation.hpp"
#include "boosting.hpp"
#include "kernels.hpp"
#include "portable_math.hpp"
#include "predict.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace frugal;

namespace {

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Longs = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using RawMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using NumpyVector = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T, class Array>
std::span<const T> span_of(const Array& a) {
  return {a.data(), a.size()};
}

template <class T>
NumpyVector<T> to_numpy(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return NumpyVector<T>(kept->data(), {kept->size()}, owner);
}

Table table_of(const Matrix& X) {
  Table t;
  t.data = X.data();
  t.rows = X.shape(0);
  t.columns = X.shape(1);
  t.row_step = X.stride(0);
  t.column_step = X.stride(1);
  if (t.rows > 0xFFFFFFFEu) throw std::invalid_argument("X has more than 4,294,967,294 rows.");
  const std::pair<nb::dlpack::dtype, Element> known[] = {
      {nb::dtype<double>(), Element::f64},        {nb::dtype<float>(), Element::f32},
      {nb::dtype<std::int64_t>(), Element::i64},  {nb::dtype<std::int32_t>(), Element::i32},
      {nb::dtype<std::int16_t>(), Element::i16},  {nb::dtype<std::int8_t>(), Element::i8},
      {nb::dtype<std::uint64_t>(), Element::u64}, {nb::dtype<std::uint32_t>(), Element::u32},
      {nb::dtype<std::uint16_t>(), Element::u16}, {nb::dtype<std::uint8_t>(), Element::u8},
      {nb::dtype<bool>(), Element::boolean},
  };
  for (const auto& [dtype, element] : known)
    if (X.dtype() == dtype) {
      t.element = element;
      return t;
    }
  throw std::invalid_argument("X must hold numbers of a type that numpy and C share.");
}

// Runs work without the interpreter lock; a pending Ctrl-C ends it and is raised in Python.
template <class Work>
auto without_lock(int threads, const Work& work) {
  Context context(threads, [] {
    nb::gil_scoped_acquire lock;
    return PyErr_CheckSignals() != 0;
  });
  try {
    nb::gil_scoped_release release;
    return work(context);
  } catch (const Interrupted&) {
    throw nb::python_error();
  }
}

// A loss written in Python: any object with start, gradient, curvature and perhaps value. It is called a few
// times an iteration with whole arrays.
class PythonLoss final : public Loss {
 public:
  PythonLoss(nb::object object, int outputs) : object_(std::move(object)), outputs_(outputs) {}
  ~PythonLoss() override {
    nb::gil_scoped_acquire lock;
    object_.reset();
  }
  int outputs() const override { return outputs_; }

  std::vector<double> start(const Target& t, Context&) override {
    nb::gil_scoped_acquire lock;
    std::vector<double> weights(t.rows());
    for (size_t i = 0; i < t.rows(); ++i)
      weights[i] = scaled(static_cast<double>(t.weights->unit(i)), -t.weights->shift);
    nb::object answer = object_.attr("start")(view(t.y.data(), t.rows(), 1), to_numpy(std::move(weights)));
    return doubles(answer, 1, outputs_, "start");
  }
  double mean(const Target& t, const double* raw, Context& context) override {
    std::vector<double> values;
    {
      nb::gil_scoped_acquire lock;
      g_.clear();
      if (!nb::hasattr(object_, "value")) return std::numeric_limits<double>::quiet_NaN();
      nb::object answer = object_.attr("value")(view(t.y.data(), t.rows(), 1), view(raw, t.rows(), outputs_));
      values = doubles(answer, t.rows(), 1, "value");
    }
    return weighted_mean(t, context, [&](size_t begin, size_t end, double* out) {
      std::copy(values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end),
                out);
    });
  }
  void derivatives(const Target& t, const double* raw, int k, double* g, double* h, Context&) override {
    const size_t n = t.rows();
    if (g_.empty()) {  // once for all outputs, before any of them moves
      nb::gil_scoped_acquire lock;
      auto y = view(t.y.data(), n, 1);
      auto f = view(raw, n, outputs_);
      g_ = doubles(object_.attr("gradient")(y, f), n, outputs_, "gradient");
      h_ = doubles(object_.attr("curvature")(y, f), n, outputs_, "curvature");
    }
    const auto step = static_cast<size_t>(outputs_);
    for (size_t i = 0; i < n; ++i) {
      g[i] = -g_[i * step + static_cast<size_t>(k)];
      h[i] = h_[i * step + static_cast<size_t>(k)];
      if (h[i] < 0) throw std::domain_error("The custom loss gave a curvature that is negative.");
    }
  }

 private:
  // Rows of one output as a vector, of several outputs as a matrix (rows, outputs).
  static nb::object view(const double* data, size_t rows, int outputs) {
    using View = nb::ndarray<nb::numpy, const double>;
    if (outputs == 1) return nb::cast(View(data, {rows}), nb::rv_policy::copy);
    const std::int64_t steps[] = {1, static_cast<std::int64_t>(rows)};
    const size_t shape[] = {rows, static_cast<size_t>(outputs)};
    return nb::cast(View(data, 2, shape, nb::handle(), steps), nb::rv_policy::copy);
  }
  // What a method answered, as rows of `outputs` finite numbers.
  static std::vector<double> doubles(const nb::object& answer, size_t rows, int outputs, const char* method) {
    const std::string who = "The custom loss's method '" + std::string(method) + "' gave ";
    nb::object array;
    try {
      array = nb::module_::import_("numpy").attr("ascontiguousarray")(answer, "float64");
    } catch (nb::python_error& error) {
      nb::raise_from(error, PyExc_TypeError, "%ssomething that is not an array of numbers.", who.c_str());
    }
    const auto values = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(array);
    const bool fits = outputs == 1 ? values.size() == rows
                                   : values.size() == rows * static_cast<size_t>(outputs) &&
                                         (rows == 1 || (values.ndim() == 2 && values.shape(0) == rows));
    if (!fits)
      throw std::invalid_argument(who + std::to_string(values.size()) + " numbers where " + std::to_string(rows) +
                                  (outputs == 1 ? "" : " rows of " + std::to_string(outputs)) + " were expected.");
    for (size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values.data()[i])) throw std::domain_error(who + "a number that is not finite.");
    return {values.data(), values.data() + values.size()};
  }

  nb::object object_;
  int outputs_;
  std::vector<double> g_, h_;
};

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

std::vector<double> vector_of(const Doubles& a) {
  return {a.data(), a.data() + a.size()};
}

// `size` lists of numbers below `limit`.
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

Thresholds thresholds_of(const Doubles& cuts, const Longs& offsets, const Flags& has_missing) {
  Thresholds t;
  t.cuts.assign(cuts.data(), cuts.data() + cuts.size());
  t.offsets.assign(offsets.data(), offsets.data() + offsets.size());
  t.has_missing.assign(has_missing.data(), has_missing.data() + has_missing.size());
  if (t.offsets.size() != t.has_missing.size() + 1 || t.offsets[0] != 0 ||
      t.offsets.back() != static_cast<std::int64_t>(t.cuts.size()))
    throw std::invalid_argument("The thresholds do not fit together.");
  for (size_t c = 0; c < t.columns(); ++c)
    if (t.offsets[c + 1] < t.offsets[c] || t.offsets[c + 1] - t.offsets[c] > 254)
      throw std::invalid_argument("A column has more than 255 bins.");
  return t;
}

// A table in bins together with its thresholds.
struct PyBinned {
  Thresholds thresholds;
  BinnedMatrix matrix;
};

// Places along one side of a table; none given means all.
std::vector<std::int64_t> places_of(const std::optional<Longs>& given, size_t size) {
  std::vector<std::int64_t> places(given ? given->size() : size);
  if (given)
    std::copy_n(given->data(), given->size(), places.begin());
  else
    std::iota(places.begin(), places.end(), 0);
  for (std::int64_t p : places)
    if (p < 0 || static_cast<size_t>(p) >= size) throw std::invalid_argument("There is no such row or column.");
  return places;
}

// Everything that fit was given, held in one place while boosting runs.
struct PySample {
  Weights weights;
  Sample sample;
  PySample(const PyBinned& binned, const Doubles& y, const std::optional<Doubles>& w)
      : weights(Weights::from(w ? span_of<double>(*w) : std::span<const double>(), y.size())),
        sample{binned.matrix, {span_of<double>(y), &weights}} {
    if (y.size() != binned.matrix.rows()) throw std::invalid_argument("X and y differ in length.");
    if (w && w->size() != y.size()) throw std::invalid_argument("y and sample_weight differ in length.");
  }
};

// A target with its weights, held in one place.
struct PyTarget {
  Weights weights;
  Target sample;
  PyTarget(const Doubles& y, const std::optional<Doubles>& w)
      : weights(Weights::from(w ? span_of<double>(*w) : std::span<const double>(), y.size())),
        sample{span_of<double>(y), &weights} {}
};

struct PyProgress {
  int iterations = 0;
  std::vector<double> start, raw, validation_raw, validation_losses, prices, gains;
  std::vector<int> features;

  Progress progress() const {
    Progress p{iterations, start, {}, raw, validation_raw, validation_losses};
    for (size_t i = 0; i < features.size(); ++i) p.purchases.push_back({features[i], prices[i], gains[i]});
    return p;
  }
};

std::unique_ptr<Loss> loss_of(const nb::object& loss, int outputs, double parameter) {
  if (nb::isinstance<nb::str>(loss)) return make_loss(nb::cast<std::string>(loss), outputs, parameter);
  return std::make_unique<PythonLoss>(loss, outputs);
}

Boosted py_boost(const PyBinned& X, const Doubles& y, const std::optional<Doubles>& weights, const PyBinned* X_val,
                 const std::optional<Doubles>& y_val, const std::optional<Doubles>& weights_val, nb::object loss,
                 double loss_parameter, int outputs, const std::vector<const PriceRule*>& rules, double budget,
                 const Params& params, const PyProgress& from, std::optional<nb::callable> observer, int threads) {
  PySample train(X, y, weights);
  std::optional<PySample> validation;
  if (X_val) validation.emplace(*X_val, *y_val, weights_val);
  for (const PriceRule* rule : rules)
    if (rule->prices().size() != X.matrix.columns()) throw std::invalid_argument("One price per column is needed.");
  std::unique_ptr<Loss> chosen = loss_of(loss, outputs, loss_parameter);
  Ledger ledger(copies_of(rules), budget);
  Observer tell = [&](const Record& r) {
    if (!observer) return;
    nb::gil_scoped_acquire lock;
    (*observer)(r.iteration, r.train_loss, r.validation_loss, r.features, r.cost);
  };
  return without_lock(threads, [&](Context& context) {
    return boost(train.sample, validation ? &validation->sample : nullptr, X.thresholds, *chosen, std::move(ledger),
                 params, from.progress(), tell, context);
  });
}

EnsembleView view_of(const Doubles& start, const Longs& tree_begin, const Ints& feature, const Ints& left,
                     const Flags& missing_left, const Doubles& threshold, const Doubles& value) {
  return {span_of<double>(start),      span_of<std::int64_t>(tree_begin),   span_of<std::int32_t>(feature),
          span_of<std::int32_t>(left), span_of<std::uint8_t>(missing_left), span_of<double>(threshold),
          span_of<double>(value)};
}

template <class T, class Get>
auto column_of(const Get& get) {
  return [get](const Boosted& b) {
    std::vector<T> out;
    for (const auto& item : get.list(b)) out.push_back(get.field(item));
    return to_numpy(std::move(out));
  };
}

// One field of every record or purchase, as an array.
template <class T, class Item>
struct Field {
  std::vector<Item> Boosted::* items;
  T Item::* member;
  const std::vector<Item>& list(const Boosted& b) const { return b.*items; }
  T field(const Item& item) const { return item.*member; }
};

template <class T>
auto node_array(std::vector<T> Tree::* member) {
  return [member](const Boosted& b) { return to_numpy(b.ensemble.nodes.*member); };
}

void bind_params(nb::module_& m) {
  nb::enum_<MuUnit>(m, "MuUnit").value("share", MuUnit::share).value("absolute", MuUnit::absolute);
  nb::enum_<LeafValues>(m, "LeafValues").value("newton", LeafValues::newton).value("gradient", LeafValues::gradient);
  nb::enum_<Init>(m, "Init").value("prior", Init::prior).value("zero", Init::zero);
  nb::enum_<Stop>(m, "Stop").value("paid", Stop::paid).value("never", Stop::never);
  nb::class_<Params>(m, "Params")
      .def(nb::init<>())
      .def_rw("mu", &Params::mu)
      .def_rw("mu_unit", &Params::mu_unit)
      .def_rw("learning_rate", &Params::learning_rate)
      .def_rw("max_iter", &Params::max_iter)
      .def_rw("max_depth", &Params::max_depth)
      .def_rw("min_samples_leaf", &Params::min_samples_leaf)
      .def_rw("l2_regularization", &Params::l2_regularization)
      .def_rw("leaf_values", &Params::leaf_values)
      .def_rw("init", &Params::init)
      .def_rw("stop", &Params::stop)
      .def_rw("early_stopping", &Params::early_stopping)
      .def_rw("n_iter_no_change", &Params::n_iter_no_change)
      .def_rw("tol", &Params::tol);
  nb::class_<PyProgress>(m, "Progress")
      .def(nb::init<>())
      .def_rw("iterations", &PyProgress::iterations)
      .def_rw("validation_losses", &PyProgress::validation_losses)
      .def_rw("start", &PyProgress::start)
      .def_rw("features", &PyProgress::features)
      .def_rw("prices", &PyProgress::prices)
      .def_rw("gains", &PyProgress::gains)
      .def(
          "set_raw",
          [](PyProgress& p, const Doubles& raw, const std::optional<Doubles>& validation_raw) {
            p.raw.assign(raw.data(), raw.data() + raw.size());
            if (validation_raw)
              p.validation_raw.assign(validation_raw->data(), validation_raw->data() + validation_raw->size());
          },
          "raw"_a, "validation_raw"_a.none());
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
          [](BagPrices* self, const Longs& begin, const Ints& bags, const Doubles& bag_prices, double most) {
            Lists lists = lists_of(begin, bags, begin.size() - 1, bag_prices.size());
            for (size_t f = 0; f < lists.size(); ++f)
              if (lists.of(f).empty()) throw std::invalid_argument("Every feature needs a bag.");
            new (self) BagPrices(std::move(lists), vector_of(bag_prices), most);
          },
          "begin"_a, "bags"_a, "bag_prices"_a, "most"_a);
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
  m.def(
      "buy_all",
      [](const std::vector<const PriceRule*>& rules, const Ints& features) {
        const auto wanted = span_of<std::int32_t>(features);
        for (std::int32_t f : wanted)
          for (const PriceRule* rule : rules)
            if (f < 0 || static_cast<size_t>(f) >= rule->prices().size())
              throw std::invalid_argument("A feature that does not exist can't be bought.");
        std::vector<int> order;
        std::vector<double> paid;
        for (const Purchase& p : buy_all(copies_of(rules), wanted)) {
          order.push_back(p.feature);
          paid.push_back(p.price);
        }
        return std::tuple(to_numpy(std::move(order)), to_numpy(std::move(paid)));
      },
      "rules"_a, "features"_a,
      "Buy features one after another: (features, prices); those that can't be had are left out.");
}

void bind_binning(nb::module_& m) {
  m.def(
      "find_thresholds",
      [](const Matrix& X, const std::optional<Doubles>& weights, int max_bins, int threads) {
        Thresholds t = without_lock(threads, [&](Context& context) {
          Weights w = Weights::from(weights ? span_of<double>(*weights) : std::span<const double>(), X.shape(0));
          return find_thresholds(table_of(X), w, max_bins, context);
        });
        return std::tuple(to_numpy(std::move(t.cuts)), to_numpy(std::move(t.offsets)),
                          to_numpy(std::move(t.has_missing)));
      },
      "X"_a, "weights"_a.none(), "max_bins"_a, "threads"_a,
      "Thresholds between the bins of every column: (cuts, offsets, has_missing).");
  nb::class_<PyBinned>(m, "BinnedMatrix")
      .def(
          "__init__",
          [](PyBinned* self, const Matrix& X, const Doubles& cuts, const Longs& offsets, const Flags& has_missing,
             int threads) {
            Thresholds t = thresholds_of(cuts, offsets, has_missing);
            if (t.columns() != X.shape(1)) throw std::invalid_argument("X and the thresholds differ in columns.");
            BinnedMatrix matrix =
                without_lock(threads, [&](Context& context) { return BinnedMatrix(table_of(X), t, context); });
            new (self) PyBinned{std::move(t), std::move(matrix)};
          },
          "X"_a, "cuts"_a, "offsets"_a, "has_missing"_a, "threads"_a)
      .def(
          "take",
          [](const PyBinned& self, const std::optional<Longs>& columns, const std::optional<Longs>& rows, int threads) {
            const auto c = places_of(columns, self.matrix.columns()), r = places_of(rows, self.matrix.rows());
            return without_lock(threads, [&](Context& context) {
              return PyBinned{self.thresholds.take(c), BinnedMatrix(self.matrix, c, r, context)};
            });
          },
          "columns"_a.none(), "rows"_a.none(), "threads"_a,
          "Some columns and rows, None for all; the same as binning that part of the table.")
      .def_prop_ro(
          "bytes",
          [](const PyBinned& b) {
            const auto& bytes = b.matrix.bytes();
            return nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(bytes.data(), {bytes.size()}, nb::find(b));
          },
          "The bins as they lie in memory.");
}

void bind_boosting(nb::module_& m) {
  nb::enum_<Ending>(m, "Ending")
      .value("max_iter", Ending::max_iter)
      .value("converged", Ending::converged)
      .value("early_stopping", Ending::early_stopping);
  using Records = std::vector<Record> Boosted::*;
  using Purchases = std::vector<Purchase> Boosted::*;
  constexpr Records records = &Boosted::records;
  constexpr Purchases purchases = &Boosted::purchases;
  constexpr auto fresh = nb::rv_policy::automatic;  // each array is a copy that Python owns
  nb::class_<Boosted>(m, "Boosted")
      .def_ro("impurity", &Boosted::impurity)
      .def_ro("mu", &Boosted::mu)
      .def_ro("mu_max", &Boosted::mu_max)
      .def_ro("iterations", &Boosted::iterations)
      .def_ro("best_iteration", &Boosted::best_iteration)
      .def_ro("ending", &Boosted::ending)
      .def_prop_ro("train_loss", column_of<double>(Field<double, Record>{records, &Record::train_loss}), fresh)
      .def_prop_ro("validation_loss", column_of<double>(Field<double, Record>{records, &Record::validation_loss}),
                   fresh)
      .def_prop_ro("features", column_of<int>(Field<int, Record>{records, &Record::features}), fresh)
      .def_prop_ro("cost", column_of<double>(Field<double, Record>{records, &Record::cost}), fresh)
      .def_prop_ro("bought", column_of<int>(Field<int, Purchase>{purchases, &Purchase::feature}), fresh)
      .def_prop_ro("bought_price", column_of<double>(Field<double, Purchase>{purchases, &Purchase::price}), fresh)
      .def_prop_ro("bought_gain", column_of<double>(Field<double, Purchase>{purchases, &Purchase::gain}), fresh)
      .def_prop_ro(
          "bought_iteration", [](const Boosted& b) { return to_numpy(b.purchase_iterations); }, fresh)
      .def_prop_ro(
          "start", [](const Boosted& b) { return to_numpy(b.ensemble.start); }, fresh)
      .def_prop_ro(
          "tree_begin", [](const Boosted& b) { return to_numpy(b.ensemble.tree_begin); }, fresh)
      .def_prop_ro("feature", node_array(&Tree::feature), fresh)
      .def_prop_ro("left", node_array(&Tree::left), fresh)
      .def_prop_ro("missing_left", node_array(&Tree::missing_left), fresh)
      .def_prop_ro("threshold", node_array(&Tree::threshold), fresh)
      .def_prop_ro("value", node_array(&Tree::value), fresh)
      .def_prop_ro("gain", node_array(&Tree::gain), fresh)
      .def_prop_ro("weight", node_array(&Tree::weight), fresh);
  m.def("boost", &py_boost, "X"_a, "y"_a, "weights"_a.none(), "X_val"_a.none(), "y_val"_a.none(),
        "weights_val"_a.none(), "loss"_a, "loss_parameter"_a, "outputs"_a, "rules"_a, "budget"_a, "params"_a,
        "progress"_a, "observer"_a.none(), "threads"_a, "Boost trees; the whole loop runs without Python.");
}

void bind_predict(nb::module_& m) {
  m.def(
      "check_trees",
      [](const Doubles& start, const Longs& tree_begin, const Ints& feature, const Ints& left,
         const Flags& missing_left, const Doubles& threshold, const Doubles& value, size_t features) {
        view_of(start, tree_begin, feature, left, missing_left, threshold, value).check(features);
      },
      "start"_a, "tree_begin"_a, "feature"_a, "left"_a, "missing_left"_a, "threshold"_a, "value"_a, "features"_a,
      "Raise ValueError where the arrays do not describe trees.");
  m.def(
      "add_trees",
      [](const Doubles& start, const Longs& tree_begin, const Ints& feature, const Ints& left,
         const Flags& missing_left, const Doubles& threshold, const Doubles& value, const Matrix& X, size_t first,
         size_t last, RawMatrix raw, int threads) {
        const EnsembleView view = view_of(start, tree_begin, feature, left, missing_left, threshold, value);
        view.check(X.shape(1));
        if (first > last || last > view.trees()) throw std::invalid_argument("There are not so many trees.");
        if (raw.shape(0) != view.outputs() || raw.shape(1) != X.shape(0))
          throw std::invalid_argument("raw must have one row per output and one column per row of X.");
        without_lock(threads, [&](Context& context) {
          add_trees(view, table_of(X), first, last, raw.data(), context);
          return 0;
        });
      },
      "start"_a, "tree_begin"_a, "feature"_a, "left"_a, "missing_left"_a, "threshold"_a, "value"_a, "X"_a, "first"_a,
      "last"_a, "raw"_a, "threads"_a, "Add trees [first, last) to raw, in place.");
  m.def(
      "path_prices",
      [](const Doubles& start, const Longs& tree_begin, const Ints& feature, const Ints& left,
         const Flags& missing_left, const Doubles& threshold, const Doubles& value, const Matrix& X,
         const std::vector<const PriceRule*>& rules, const Ints& bought, const Doubles& paid, size_t last,
         int threads) {
        const EnsembleView view = view_of(start, tree_begin, feature, left, missing_left, threshold, value);
        view.check(X.shape(1));
        if (last > view.trees()) throw std::invalid_argument("There are not so many trees.");
        if (bought.size() != paid.size()) throw std::invalid_argument("One price per purchase is needed.");
        for (const PriceRule* rule : rules)
          if (rule->prices().size() != X.shape(1)) throw std::invalid_argument("One price per column is needed.");
        std::vector<Purchase> purchases;
        for (size_t i = 0; i < bought.size(); ++i) {
          if (bought.data()[i] < 0 || static_cast<size_t>(bought.data()[i]) >= X.shape(1))
            throw std::invalid_argument("A feature that does not exist was bought.");
          purchases.push_back({bought.data()[i], paid.data()[i], 0.0});
        }
        PathPrices found = without_lock(
            threads, [&](Context& context) { return path_prices(view, table_of(X), rules, purchases, last, context); });
        return std::tuple(to_numpy(std::move(found.rows)), to_numpy(std::move(found.iterations)));
      },
      "start"_a, "tree_begin"_a, "feature"_a, "left"_a, "missing_left"_a, "threshold"_a, "value"_a, "X"_a, "rules"_a,
      "bought"_a, "paid"_a, "last"_a, "threads"_a,
      "Price of what each row's paths look at: for each row, and the mean after each iteration.");
  m.def(
      "losses_without",
      [](const Doubles& start, const Longs& tree_begin, const Ints& feature, const Ints& left,
         const Flags& missing_left, const Doubles& threshold, const Doubles& value, const Doubles& weight,
         const Matrix& X, const Doubles& y, const std::optional<Doubles>& weights, const Doubles& fitted_y,
         const std::optional<Doubles>& fitted_weights, nb::object loss, double loss_parameter,
         const Longs& hidden_begin, const Ints& hidden, size_t last, int threads) {
        const EnsembleView view = view_of(start, tree_begin, feature, left, missing_left, threshold, value);
        view.check(X.shape(1));
        if (last > view.trees() || weight.size() != view.value.size() || y.size() != X.shape(0))
          throw std::invalid_argument("Model, rows and targets do not fit together.");
        const Weights w = Weights::from(weights ? span_of<double>(*weights) : std::span<const double>(), y.size());
        const Target target{span_of<double>(y), &w};
        const PyTarget fitted(fitted_y, fitted_weights);
        const Lists lists = lists_of(hidden_begin, hidden, hidden_begin.size() - 1, X.shape(1));
        std::unique_ptr<Loss> chosen = loss_of(loss, static_cast<int>(view.outputs()), loss_parameter);
        return to_numpy(without_lock(threads, [&](Context& context) {
          chosen->start(fitted.sample, context);  // some losses find their parameter from the rows they are fitted on
          return losses_without(view, span_of<double>(weight), table_of(X), target, *chosen, lists, last, context);
        }));
      },
      "start"_a, "tree_begin"_a, "feature"_a, "left"_a, "missing_left"_a, "threshold"_a, "value"_a, "weight"_a, "X"_a,
      "y"_a, "weights"_a.none(), "fitted_y"_a, "fitted_weights"_a.none(), "loss"_a, "loss_parameter"_a,
      "hidden_begin"_a, "hidden"_a, "last"_a, "threads"_a,
      "Mean loss as the model is, and with each list of features hidden from it.");
  m.def(
      "mean_loss",
      [](const RawMatrix& raw, const Doubles& y, const std::optional<Doubles>& weights, const Doubles& fitted_y,
         const std::optional<Doubles>& fitted_weights, nb::object loss, double loss_parameter, int threads) {
        if (raw.shape(1) != y.size()) throw std::invalid_argument("raw and y differ in length.");
        const Weights w = Weights::from(weights ? span_of<double>(*weights) : std::span<const double>(), y.size());
        const Target target{span_of<double>(y), &w};
        const PyTarget fitted(fitted_y, fitted_weights);
        std::unique_ptr<Loss> chosen = loss_of(loss, static_cast<int>(raw.shape(0)), loss_parameter);
        return without_lock(threads, [&](Context& context) {
          chosen->start(fitted.sample, context);  // some losses find their parameter from the rows they are fitted on
          return chosen->mean(target, raw.data(), context);
        });
      },
      "raw"_a, "y"_a, "weights"_a.none(), "fitted_y"_a, "fitted_weights"_a.none(), "loss"_a, "loss_parameter"_a,
      "threads"_a, "Mean loss of raw predictions, one row per output.");
  m.def(
      "exp",
      [](const Doubles& v) {
        std::vector<double> out(v.size());
        kernels().exponentials(v.size(), v.data(), out.data());
        return to_numpy(std::move(out));
      },
      "v"_a, "exp with the same bits on every machine.");
  m.def(
      "log",
      [](const Doubles& v) {
        std::vector<double> out(v.size());
        for (size_t i = 0; i < v.size(); ++i) out[i] = portable_log(v.data()[i]);
        return to_numpy(std::move(out));
      },
      "v"_a, "Natural logarithm of positive, normal numbers, with the same bits on every machine.");
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of frugalboost.";
  nb::set_leak_warnings(false);  // a traceback that lives until exit is the user's business, not a leak
  bind_params(m);
  bind_prices(m);
  bind_binning(m);
  bind_boosting(m);
  bind_predict(m);
  m.def("usable_threads", &usable_threads, "requested"_a, "Threads a fit may use; 0 asks for all.");
  m.def("instruction_set", [] { return std::string(kernels().name); }, "Which copy of the kernels runs here.");
}
