// The boosting loop in Python: what it is given, and what it leaves behind.
#include "grow/boosting.hpp"

#include "bind/engine.hpp"

namespace frugal {
namespace {

struct PyProgress {
  int iterations = 0;
  std::vector<double> start, validation_losses, prices, gains;
  std::vector<size_t> features;
  DrawState draw;

  Progress progress() const {
    Progress p{iterations, start, {}, validation_losses, draw};
    for (size_t i = 0; i < features.size(); ++i) p.purchases.push_back({features[i], prices[i], gains[i]});
    return p;
  }
};

// On the engine of this machine, or on one written in Python.
Boosted py_boost(const nb::object& engine, const std::vector<const PriceRule*>& rules, double budget,
                 const Params& params, const PyProgress& from, std::optional<nb::callable> observer, int threads) {
  PyCpuEngine* local = nb::isinstance<PyCpuEngine>(engine) ? nb::cast<PyCpuEngine*>(engine) : nullptr;
  const std::unique_ptr<Engine> foreign = local ? nullptr : python_engine(engine);
  Engine& chosen = local ? local->engine() : *foreign;
  for (const PriceRule* rule : rules)
    if (rule->prices().size() != chosen.table().columns.size())
      throw std::invalid_argument("One price per column is needed.");
  Ledger ledger(copies_of(rules), budget);
  const Observer tell = [&](const Record& r) {
    if (!observer) return;
    nb::gil_scoped_acquire lock;
    (*observer)(r.iteration, r.train_loss, r.validation_loss, r.features, r.cost);
  };
  auto run = [&](Context& context) { return boost(chosen, std::move(ledger), params, from.progress(), tell, context); };
  if (!local) return without_lock(threads, run);
  try {
    nb::gil_scoped_release release;
    return run(local->context());
  } catch (const Interrupted&) {
    local->leave();
    throw nb::python_error();
  } catch (...) {
    local->leave();
    throw;
  }
}

template <class T, class Get>
auto column_of(const Get& get) {
  return [get](const Boosted& b) {
    std::vector<T> out;
    for (const auto& item : get.list(b)) out.push_back(static_cast<T>(get.field(item)));
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
  nb::class_<Params> params(m, "Params");
  params.def(nb::init<>());
#define FRUGAL_DOOR(type, name, value) params.def_rw(#name, &Params::name);
  FRUGAL_PARAMS(FRUGAL_DOOR)
#undef FRUGAL_DOOR
  nb::class_<PyProgress>(m, "Progress")
      .def(nb::init<>())
      .def_rw("iterations", &PyProgress::iterations)
      .def_rw("validation_losses", &PyProgress::validation_losses)
      .def_rw("start", &PyProgress::start)
      .def_rw("features", &PyProgress::features)
      .def_rw("prices", &PyProgress::prices)
      .def_rw("gains", &PyProgress::gains)
      .def_rw("draw", &PyProgress::draw);
  nb::class_<DrawState>(m, "DrawState", "What a continued fit must know to draw features as one long fit would.")
      .def(nb::init<>())
      .def_rw("iterations", &DrawState::iterations)
      .def_rw("last_look", &DrawState::last_look)
      .def_rw("bought_then", &DrawState::bought_then)
      .def_rw("look_at_all", &DrawState::look_at_all)
      .def_prop_rw(
          "gains", [](const DrawState& d) { return to_numpy(d.gains); },
          [](DrawState& d, const Doubles& gains) { d.gains = vector_of(gains); }, nb::rv_policy::automatic);
}

// Asked for by tests only: a fit draws its own.
NumpyVector<std::int64_t> py_rows_to_sample(const BinnedMatrix& X, const Doubles& g, std::uint64_t seed, int threads) {
  if (g.size() != X.rows()) throw std::invalid_argument("X and g differ in length.");
  return to_numpy(without_lock(threads, [&](Context& context) {
    GridGradients first;
    first.set(span_of<double>(g), -1.0, Weights::from({}, g.size(), false), context);
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
      .def_ro("draw", &Boosted::draw)
      .def_prop_ro("train_loss", column_of<double>(Field<double, Record>{records, &Record::train_loss}), fresh)
      .def_prop_ro("validation_loss", column_of<double>(Field<double, Record>{records, &Record::validation_loss}),
                   fresh)
      .def_prop_ro("features", column_of<int>(Field<int, Record>{records, &Record::features}), fresh)
      .def_prop_ro("cost", column_of<double>(Field<double, Record>{records, &Record::cost}), fresh)
      .def_prop_ro("bought", column_of<std::int32_t>(Field<size_t, Purchase>{purchases, &Purchase::feature}), fresh)
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
  m.def("boost", &py_boost, "engine"_a, "rules"_a, "budget"_a, "params"_a, "progress"_a, "observer"_a.none(),
        "threads"_a, "Boost trees on an engine; the whole loop runs without Python.");
  m.def(
      "best_iteration",
      [](const Doubles& validation_losses, double tol) {
        BestIteration best;
        for (size_t i = 0; i < validation_losses.size(); ++i)
          best.judge(validation_losses.data()[i], static_cast<int>(i), tol);
        return best.iteration;
      },
      "validation_losses"_a, "tol"_a, "The iteration that early stopping keeps.");
  m.def(
      "rows_to_sample", &py_rows_to_sample, "X"_a, "g"_a, "seed"_a, "threads"_a,
      "The rows that a fit with screening=\"auto\" draws, given the first gradients, in the order in which it looks at "
      "them.");
}

}  // namespace frugal
