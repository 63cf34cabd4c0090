// The boosting loop in Python: what it is given, and what it leaves behind.
#include "grow/boosting.hpp"

#include "bind/python.hpp"
#include "grow/screening.hpp"

namespace frugal {
namespace {

// Everything that fit was given, held in one place while boosting runs.
struct PySample {
  Weights weights;
  Sample sample;
  PySample(const BinnedMatrix& binned, const Doubles& y, const std::optional<Doubles>& w)
      : weights(Weights::from(w ? span_of<double>(*w) : std::span<const double>(), y.size())),
        sample{binned, {span_of<double>(y), &weights}} {
    if (y.size() != binned.rows()) throw std::invalid_argument("X and y differ in length.");
    if (w && w->size() != y.size()) throw std::invalid_argument("y and sample_weight differ in length.");
  }
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

Boosted py_boost(const BinnedMatrix& X, const Doubles& y, const std::optional<Doubles>& weights,
                 const BinnedMatrix* X_val, const std::optional<Doubles>& y_val,
                 const std::optional<Doubles>& weights_val, nb::object loss, double loss_parameter, int outputs,
                 const std::vector<const PriceRule*>& rules, double budget, const Params& params,
                 const PyProgress& from, std::optional<nb::callable> observer, int threads) {
  PySample train(X, y, weights);
  std::optional<PySample> validation;
  if (X_val) validation.emplace(*X_val, *y_val, weights_val);
  for (const PriceRule* rule : rules)
    if (rule->prices().size() != X.columns()) throw std::invalid_argument("One price per column is needed.");
  std::unique_ptr<Loss> chosen = loss_of(loss, outputs, loss_parameter);
  Ledger ledger(copies_of(rules), budget);
  Observer tell = [&](const Record& r) {
    if (!observer) return;
    nb::gil_scoped_acquire lock;
    (*observer)(r.iteration, r.train_loss, r.validation_loss, r.features, r.cost);
  };
  return without_lock(threads, [&](Context& context) {
    return boost(train.sample, validation ? &validation->sample : nullptr, *chosen, std::move(ledger), params,
                 from.progress(), tell, context);
  });
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
  nb::enum_<Screening>(m, "Screening")
      .value("off", Screening::off)
      .value("exact", Screening::exact)
      .value("probable", Screening::probable);
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
      .def_rw("tol", &Params::tol)
      .def_rw("screening", &Params::screening)
      .def_rw("new_features", &Params::new_features)
      .def_rw("seed", &Params::seed);
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

// Asked for by tests only: a fit draws its own.
NumpyVector<std::int64_t> py_rows_to_sample(const BinnedMatrix& X, const Doubles& g, std::uint64_t seed, int threads) {
  if (g.size() != X.rows()) throw std::invalid_argument("X and g differ in length.");
  return to_numpy(without_lock(threads, [&](Context& context) {
    GridGradients first;
    first.set(span_of<double>(g), -1.0, Weights::from({}, g.size()), context);
    return rows_to_sample(X, first, seed, context);
  }));
}

}  // namespace

void bind_boosting(nb::module_& m) {
  bind_params(m);
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
      .def_prop_ro("weight", node_array(&Tree::weight), fresh)
      .def_prop_ro("level_set", node_array(&Tree::level_set), fresh)
      .def_prop_ro("sets", node_array(&Tree::sets), fresh);
  m.def("boost", &py_boost, "X"_a, "y"_a, "weights"_a.none(), "X_val"_a.none(), "y_val"_a.none(),
        "weights_val"_a.none(), "loss"_a, "loss_parameter"_a, "outputs"_a, "rules"_a, "budget"_a, "params"_a,
        "progress"_a, "observer"_a.none(), "threads"_a, "Boost trees; the whole loop runs without Python.");
  m.def(
      "rows_to_sample", &py_rows_to_sample, "X"_a, "g"_a, "seed"_a, "threads"_a,
      "The rows that a fit with screening=\"auto\" draws, given the first gradients, in the order in which it looks at "
      "them.");
}

}  // namespace frugal
