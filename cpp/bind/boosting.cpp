// The boosting loop in Python: its arguments and its result.
#include "grow/boosting.hpp"

#include <algorithm>
#include <cstdlib>

#include "bind/engine.hpp"
#include "grow/ridge.hpp"

namespace frugal {
namespace {

struct PyProgress {
  int iterations = 0;
  std::vector<double> start, validation_losses, prices, gains;
  std::vector<size_t> features;
  DrawState draw;
  bool split_last = false;

  Progress progress() const {
    Progress p{iterations, start, {}, validation_losses, draw, split_last};
    for (size_t i = 0; i < features.size(); ++i) p.purchases.push_back({features[i], prices[i], gains[i]});
    return p;
  }
};

// Runs without Python's lock; the CPU engine has a context of its own. An error stops the other parts of its table.
template <class Run>
auto on(PyCpuEngine* local, int threads, const Run& run) {
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

void check(const Constraints& constraints, const Engine& engine) {
  const auto& columns = engine.table().columns;
  if (constraints.has_trends() && engine.outputs() > 1)
    throw std::invalid_argument("Several outputs have no common trend.");
  if (constraints.has_trends() && constraints.trends.size() != columns.size())
    throw std::invalid_argument("One trend per column is needed, or none.");
  for (size_t c = 0; c < constraints.trends.size(); ++c) {
    if (std::abs(constraints.trends[c]) > 1) throw std::invalid_argument("A trend is -1, 0 or 1.");
    if (constraints.trends[c] != 0 && columns[c].categorical)
      throw std::invalid_argument("The values of a categorical column have no trend.");
  }
  for (const auto& group : constraints.groups) {
    if (!std::is_sorted(group.begin(), group.end())) throw std::invalid_argument("A group of columns is not sorted.");
    if (!group.empty() && group.back() >= columns.size()) throw std::invalid_argument("There is no such column.");
  }
}

std::vector<double> checked_row_prices(const Doubles& given, size_t columns) {
  if (given.size() != columns) throw std::invalid_argument("One price per row and column is needed.");
  std::vector<double> prices = vector_of(given);
  for (double price : prices)
    if (!(price >= 0 && price < kInfinity)) throw std::invalid_argument("A price per row is finite, not negative.");
  return prices;
}

// Boosts on the CPU engine, or on one written in Python.
Boosted py_boost(const nb::object& engine, const std::vector<const PriceRule*>& rules, double budget,
                 const Params& params, const Constraints& constraints, const PyProgress& from,
                 std::optional<nb::callable> observer, int threads, std::optional<nb::callable> judge,
                 const std::optional<Doubles>& row_prices) {
  PyCpuEngine* local = nb::isinstance<PyCpuEngine>(engine) ? nb::cast<PyCpuEngine*>(engine) : nullptr;
  const std::unique_ptr<Engine> foreign = local ? nullptr : python_engine(engine);
  Engine& chosen = local ? local->engine() : *foreign;
  if (from.features.size() != from.prices.size() || from.features.size() != from.gains.size())
    throw std::invalid_argument("One price and one gain per purchase are needed.");
  for (size_t f : from.features)
    if (f >= chosen.table().columns.size()) throw std::invalid_argument("A feature that does not exist was bought.");
  for (const PriceRule* rule : rules)
    if (rule == nullptr || rule->prices().size() != chosen.table().columns.size())
      throw std::invalid_argument("One price per column is needed.");
  check(constraints, chosen);
  Ledger ledger(copies_of(rules), budget);
  if (row_prices) ledger.pay_by_rows(checked_row_prices(*row_prices, ledger.features()), chosen.table().weight);
  const Observer tell = [&](const Record& r) {
    if (!observer) return;
    nb::gil_scoped_acquire lock;
    (*observer)(r.iteration, r.train_loss, r.validation_loss, r.features, r.cost);
  };
  Judge ask;
  if (judge)
    ask = [&](const Record& r, const std::vector<Purchase>& purchases) {
      nb::gil_scoped_acquire lock;
      nb::list bought;
      for (const Purchase& p : purchases) bought.append(p.feature);
      const nb::object found = (*judge)(r.iteration, r.train_loss, r.validation_loss, bought, r.cost);
      return Verdict{nb::cast<std::optional<double>>(found[0]), nb::cast<bool>(found[1])};
    };
  return on(local, threads, [&](Context& context) {
    return boost(chosen, std::move(ledger), params, constraints, from.progress(), tell, ask, context);
  });
}

// A fit of lines on the CPU engine, or on one written in Python: `fit` gets the engine and a context.
template <class Fit>
auto with_engine(const nb::object& engine, const std::vector<size_t>& columns, const std::vector<double>& start,
                 int threads, const Fit& fit) {
  PyCpuEngine* local = nb::isinstance<PyCpuEngine>(engine) ? nb::cast<PyCpuEngine*>(engine) : nullptr;
  const std::unique_ptr<Engine> foreign = local ? nullptr : python_engine(engine);
  Engine& chosen = local ? local->engine() : *foreign;
  for (size_t c : columns)
    if (c >= chosen.table().columns.size()) throw std::invalid_argument("There is no such column.");
  if (!start.empty() && start.size() != chosen.outputs())
    throw std::invalid_argument("One start value per output is needed.");
  return on(local, threads, [&](Context& context) { return fit(chosen, context); });
}

std::vector<RidgeFit> py_ridge(const nb::object& engine, const std::vector<size_t>& columns,
                               const std::vector<double>& l2s, const std::vector<double>& start, int threads) {
  return with_engine(engine, columns, start, threads,
                     [&](Engine& chosen, Context& context) { return fit_ridge(chosen, columns, l2s, start, context); });
}

RidgeFit py_one_step(const nb::object& engine, const std::vector<size_t>& columns, double shrinkage,
                     const std::vector<double>& start, int threads) {
  return with_engine(engine, columns, start, threads, [&](Engine& chosen, Context& context) {
    return fit_one_step(chosen, columns, shrinkage, start, context);
  });
}

// One field of every record or purchase, as an array; counts and features as 32-bit numbers.
template <class T, class Item>
auto column_of(std::vector<Item> Boosted::* items, T Item::* member) {
  using Stored = std::conditional_t<std::is_same_v<T, size_t>, std::int32_t, T>;
  return [items, member](const Boosted& b) {
    std::vector<Stored> out;
    for (const Item& item : b.*items) {
      if constexpr (std::is_same_v<T, Stored>) {
        out.push_back(item.*member);
      } else {
        out.push_back(narrow<Stored>(item.*member));
      }
    }
    return to_numpy(std::move(out));
  };
}

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
  nb::enum_<Base>(m, "Base").value("trees", Base::trees).value("lines", Base::lines).value("both", Base::both);
  nb::enum_<MultiStrategy>(m, "MultiStrategy")
      .value("one_output_per_tree", MultiStrategy::one_output_per_tree)
      .value("multi_output_tree", MultiStrategy::multi_output_tree);
  nb::enum_<Interactions>(m, "Interactions")
      .value("all", Interactions::all)
      .value("none", Interactions::none)
      .value("pairs", Interactions::pairs)
      .value("groups", Interactions::groups);
  nb::class_<Constraints>(m, "Constraints", "Trends of columns, and which columns may meet on the way to a leaf.")
      .def(nb::init<>())
      .def_rw("trends", &Constraints::trends)
      .def_rw("interactions", &Constraints::interactions)
      .def_rw("groups", &Constraints::groups);
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
      .def_rw("draw", &PyProgress::draw)
      .def_rw("split_last", &PyProgress::split_last);
  nb::class_<DrawState>(m, "DrawState", "The state of the draw of features, for a continued fit.")
      .def(nb::init<>())
      .def_rw("iterations", &DrawState::iterations)
      .def_rw("last_look", &DrawState::last_look)
      .def_rw("bought_then", &DrawState::bought_then)
      .def_rw("look_at_all", &DrawState::look_at_all)
      .def_prop_rw(
          "gains", [](const DrawState& d) { return to_numpy(d.gains); },
          [](DrawState& d, const Doubles& gains) { d.gains = vector_of(gains); }, nb::rv_policy::automatic);
}

// For tests only; a fit draws its own sample.
NumpyVector<std::int64_t> py_rows_to_sample(const BinnedMatrix& X, const Doubles& g, std::uint64_t seed, int threads) {
  if (g.size() != X.rows()) throw std::invalid_argument("X and g differ in length.");
  return to_numpy(without_lock(threads, [&](Context& context) {
    GridGradients first;
    first.set(span_of<double>(g), -1.0, Weights::from({}, g.size(), false), context);
    const std::vector<Row> rows = rows_to_sample(X, first, seed, context);
    return std::vector<std::int64_t>(rows.begin(), rows.end());
  }));
}

void bind_boosted(nb::module_& m) {
  nb::enum_<Ending>(m, "Ending")
      .value("max_iter", Ending::max_iter)
      .value("converged", Ending::converged)
      .value("early_stopping", Ending::early_stopping)
      .value("callback", Ending::callback);
  constexpr auto records = &Boosted::records;
  constexpr auto purchases = &Boosted::purchases;
  constexpr auto fresh = nb::rv_policy::automatic;  // each array is a copy that Python owns
  nb::class_<Boosted>(m, "Boosted")
      .def_ro("impurity", &Boosted::impurity)
      .def_ro("mu", &Boosted::mu)
      .def_ro("mu_max", &Boosted::mu_max)
      .def_ro("iterations", &Boosted::iterations)
      .def_ro("best_iteration", &Boosted::best_iteration)
      .def_ro("ending", &Boosted::ending)
      .def_ro("draw", &Boosted::draw)
      .def_prop_ro("train_loss", column_of(records, &Record::train_loss), fresh)
      .def_prop_ro("validation_loss", column_of(records, &Record::validation_loss), fresh)
      .def_prop_ro("features", column_of(records, &Record::features), fresh)
      .def_prop_ro("cost", column_of(records, &Record::cost), fresh)
      .def_prop_ro("row_cost", column_of(records, &Record::row_cost), fresh)
      .def_prop_ro("bought", column_of(purchases, &Purchase::feature), fresh)
      .def_prop_ro("bought_price", column_of(purchases, &Purchase::price), fresh)
      .def_prop_ro("bought_gain", column_of(purchases, &Purchase::gain), fresh)
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
      .def_prop_ro("sets", node_array(&Tree::sets), fresh)
      .def_prop_ro("line", node_array(&Tree::line), fresh)
      .def_prop_ro("slope", node_array(&Tree::slope), fresh);
}

int py_best_iteration(const Doubles& validation_losses, double tol) {
  BestIteration best;
  for (int i = 0; double loss : span_of<double>(validation_losses)) best.judge(loss, i++, tol);
  return best.iteration;
}

}  // namespace

void bind_boosting(nb::module_& m) {
  bind_params(m);
  bind_boosted(m);
  m.def("boost", &py_boost, "engine"_a, "rules"_a, "budget"_a, "params"_a, "constraints"_a, "progress"_a,
        "observer"_a.none(), "threads"_a, "judge"_a.none() = nb::none(), "row_prices"_a.none() = nb::none(),
        "Boost trees on an engine; the whole loop runs without Python.");
  nb::class_<RidgeFit>(m, "RidgeFit")
      .def_prop_ro(
          "start", [](const RidgeFit& r) { return to_numpy(r.start); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "slopes", [](const RidgeFit& r) { return to_numpy(r.slopes); }, nb::rv_policy::automatic,
          "By output and column.")
      .def_prop_ro(
          "gains", [](const RidgeFit& r) { return to_numpy(r.gains); }, nb::rv_policy::automatic)
      .def_ro("train_loss", &RidgeFit::train_loss)
      .def_ro("validation_loss", &RidgeFit::validation_loss)
      .def_ro("constant_loss", &RidgeFit::constant_loss);
  m.def("fit_ridge", &py_ridge, "engine"_a, "columns"_a, "l2s"_a, "start"_a, "threads"_a,
        "Lines on given columns, all at once, with a penalty on their squared slopes; a fit for each l2.");
  m.def("fit_one_step", &py_one_step, "engine"_a, "columns"_a, "shrinkage"_a, "start"_a, "threads"_a,
        "Lines on given columns, all at once: one Newton step with shrunken curvatures, stretched to the least loss.");
  m.def("best_iteration", &py_best_iteration, "validation_losses"_a, "tol"_a,
        "The iteration that early stopping keeps.");
  m.def(
      "rows_to_sample", &py_rows_to_sample, "X"_a, "g"_a, "seed"_a, "threads"_a,
      "The rows that a fit with screening=\"auto\" draws, given the first gradients, in the order in which it searches "
      "them.");
}

}  // namespace frugal
