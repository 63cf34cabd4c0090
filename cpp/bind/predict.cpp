// Predictions and other walks through trees in Python.
#include "tree/predict.hpp"

#include "bind/python.hpp"
#include "support/kernels.hpp"
#include "support/portable_math.hpp"
#include "tree/ablation.hpp"
#include "tree/looks.hpp"

namespace frugal {
namespace {

// An ensemble's arrays, owned by numpy.
struct PyTrees {
  Doubles start;
  Longs tree_begin;
  Ints feature, left;
  Flags missing_left;
  Doubles threshold, value;
  Ints level_set;
  Flags sets;
  Ints line;
  Doubles slope;
  Ints scale_feature;
  Longs scale_begin;
  Doubles scale_cuts, scale_scores;

  // The trees, checked for a table with this many features. Throws if there are fewer than `last` trees.
  EnsembleView view(size_t features, size_t last = 0) const {
    EnsembleView v{span_of<double>(start),
                   span_of<std::int64_t>(tree_begin),
                   span_of<std::int32_t>(feature),
                   span_of<std::int32_t>(left),
                   span_of<std::uint8_t>(missing_left),
                   span_of<double>(threshold),
                   span_of<double>(value),
                   span_of<std::int32_t>(level_set),
                   span_of<std::uint8_t>(sets),
                   span_of<std::int32_t>(line),
                   span_of<double>(slope),
                   span_of<std::int32_t>(scale_feature),
                   span_of<std::int64_t>(scale_begin),
                   span_of<double>(scale_cuts),
                   span_of<double>(scale_scores)};
    v.check(features);
    if (last > v.trees()) throw std::invalid_argument("There are fewer trees.");
    return v;
  }
};

void py_add_trees(const PyTrees& trees, const Source& X, size_t first, size_t last, RawMatrix raw, int threads) {
  const EnsembleView view = trees.view(X.columns(), last);
  if (first > last) throw std::invalid_argument("There are fewer trees.");
  if (raw.shape(0) != view.outputs() || raw.shape(1) != X.rows())
    throw std::invalid_argument("raw must have one row per output and one column per row of X.");
  without_lock(threads, [&](Context& context) { add_trees(view, X, first, last, raw.data(), context); });
}

auto py_path_prices(const PyTrees& trees, const Source& X, const std::vector<const PriceRule*>& rules,
                    const Ints& bought, const Doubles& paid, size_t last, int threads) {
  const EnsembleView view = trees.view(X.columns(), last);
  if (bought.size() != paid.size()) throw std::invalid_argument("One price per purchase is needed.");
  for (const PriceRule* rule : rules)
    if (rule->prices().size() != X.columns()) throw std::invalid_argument("One price per column is needed.");
  std::vector<Purchase> purchases;
  for (size_t i = 0; i < bought.size(); ++i) {
    const std::int32_t feature = bought.data()[i];
    if (feature < 0 || index(feature) >= X.columns())
      throw std::invalid_argument("A feature that does not exist was bought.");
    purchases.push_back({index(feature), paid.data()[i], 0.0});
  }
  PathPrices found =
      without_lock(threads, [&](Context& context) { return path_prices(view, X, rules, purchases, last, context); });
  return std::tuple(to_numpy(std::move(found.rows)), to_numpy(std::move(found.iterations)));
}

auto py_looked_rows(const PyTrees& trees, const Source& X, const std::vector<size_t>& columns, size_t last,
                    int threads) {
  const EnsembleView view = trees.view(X.columns(), last);
  return to_numpy(
      without_lock(threads, [&](Context& context) { return looked_rows(view, X, columns, last, context); }));
}

auto py_row_costs(const PyTrees& trees, const Source& X, const Doubles& prices, const std::optional<Doubles>& weights,
                  size_t last, int threads) {
  const EnsembleView view = trees.view(X.columns(), last);
  if (prices.size() != X.columns()) throw std::invalid_argument("One price per column is needed.");
  if (weights && weights->size() != X.rows()) throw std::invalid_argument("One weight per row is needed.");
  const auto given = weights ? span_of<double>(*weights) : std::span<const double>();
  PathPrices found = without_lock(
      threads, [&](Context& context) { return row_costs(view, X, span_of<double>(prices), given, last, context); });
  return std::tuple(to_numpy(std::move(found.rows)), to_numpy(std::move(found.iterations)));
}

auto py_losses_without(const PyTrees& trees, const Doubles& weight, const Source& X, const Doubles& y,
                       const std::optional<Doubles>& weights, const Doubles& fitted_y,
                       const std::optional<Doubles>& fitted_weights, nb::object loss, double loss_parameter,
                       const Longs& hidden_begin, const Ints& hidden, size_t last, int threads) {
  const EnsembleView view = trees.view(X.columns(), last);
  const size_t targets = y.size() == X.rows() ? 1 : view.outputs();
  if (weight.size() != view.value.size() || y.size() != X.rows() * targets)
    throw std::invalid_argument("Model, rows and targets do not fit together.");
  const PyTarget target(y, weights, targets), fitted(fitted_y, fitted_weights, targets);
  const Lists lists = lists_of(hidden_begin, hidden, hidden_begin.size() - 1, X.columns());
  std::unique_ptr<Loss> chosen = loss_of(loss, view.outputs(), loss_parameter);
  return to_numpy(without_lock(threads, [&](Context& context) {
    chosen->start(fitted.sample, context);  // some losses find their parameter from the rows they are fitted on
    return losses_without(view, span_of<double>(weight), X, target.sample, *chosen, lists, last, context);
  }));
}

double mean_loss(const RawMatrix& raw, const Doubles& y, const std::optional<Doubles>& weights, const Doubles& fitted_y,
                 const std::optional<Doubles>& fitted_weights, nb::object loss, double loss_parameter, int threads) {
  const size_t targets = raw.shape(1) == y.size() ? 1 : raw.shape(0);
  if (raw.shape(1) * targets != y.size()) throw std::invalid_argument("raw and y differ in length.");
  const PyTarget target(y, weights, targets);
  const PyTarget fitted(fitted_y, fitted_weights, targets);
  std::unique_ptr<Loss> chosen = loss_of(loss, raw.shape(0), loss_parameter);
  return without_lock(threads, [&](Context& context) {
    chosen->start(fitted.sample, context);  // some losses find their parameter from the rows they are fitted on
    return chosen->mean(target.sample, raw.data(), context);
  });
}

}  // namespace

void bind_predict(nb::module_& m) {
  nb::class_<PyTrees>(m, "Trees")
      .def(
          "__init__",
          [](PyTrees* self, Doubles start, Longs tree_begin, Ints feature, Ints left, Flags missing_left,
             Doubles threshold, Doubles value, Ints level_set, Flags sets, Ints line, Doubles slope, Ints scale_feature,
             Longs scale_begin, Doubles scale_cuts, Doubles scale_scores) {
            new (self)
                PyTrees{start, tree_begin, feature, left,          missing_left, threshold,  value,       level_set,
                        sets,  line,       slope,   scale_feature, scale_begin,  scale_cuts, scale_scores};
          },
          "start"_a, "tree_begin"_a, "feature"_a, "left"_a, "missing_left"_a, "threshold"_a, "value"_a, "level_set"_a,
          "sets"_a, "line"_a, "slope"_a, "scale_feature"_a, "scale_begin"_a, "scale_cuts"_a, "scale_scores"_a)
      .def(
          "check", [](const PyTrees& self, size_t features) { self.view(features); }, "features"_a,
          "Raise ValueError where the arrays do not describe trees.");
  m.def("add_trees", &py_add_trees, "trees"_a, "X"_a, "first"_a, "last"_a, "raw"_a, "threads"_a,
        "Add trees [first, last) to raw, in place.");
  m.def(
      "leaves_of_rows",
      [](const PyTrees& trees, const Source& X, size_t last, int threads) {
        const EnsembleView view = trees.view(X.columns(), last);
        return to_numpy(
            without_lock(threads, [&](Context& context) { return leaves_of_rows(view, X, last, context); }));
      },
      "trees"_a, "X"_a, "last"_a, "threads"_a, "The leaf of every row in the first trees, row after row.");
  m.def("path_prices", &py_path_prices, "trees"_a, "X"_a, "rules"_a, "bought"_a, "paid"_a, "last"_a, "threads"_a,
        "Cost of the features that each row's paths need: for each row, and the mean after each iteration.");
  m.def("looked_rows", &py_looked_rows, "trees"_a, "X"_a, "columns"_a, "last"_a, "threads"_a,
        "Whether each row's paths look at each column: flags, column after column.");
  m.def("row_costs", &py_row_costs, "trees"_a, "X"_a, "prices"_a, "weights"_a.none(), "last"_a, "threads"_a,
        "Prices of the features that each row's paths look at: for each row, and the mean after each iteration.");
  m.def("losses_without", &py_losses_without, "trees"_a, "weight"_a, "X"_a, "y"_a, "weights"_a.none(), "fitted_y"_a,
        "fitted_weights"_a.none(), "loss"_a, "loss_parameter"_a, "hidden_begin"_a, "hidden"_a, "last"_a, "threads"_a,
        "Mean loss with all features, and with each list of features hidden.");
  m.def("mean_loss", &mean_loss, "raw"_a, "y"_a, "weights"_a.none(), "fitted_y"_a, "fitted_weights"_a.none(), "loss"_a,
        "loss_parameter"_a, "threads"_a, "Mean loss of raw predictions, one row per output.");
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

}  // namespace frugal
