// The CPU engine in Python: boosting runs on it, and tests compare each of its steps with a plain engine.
#include "bind/engine.hpp"

#include "bind/codec.hpp"
#include "engine/cuda/cuda_engine.hpp"
#include "support/mask.hpp"

namespace frugal {

PySample::PySample(const BinnedMatrix& binned, const Doubles& target, const std::optional<Doubles>& w, size_t columns,
                   Together& together)
    : X(binned),
      y(target),
      weights(
          Weights::from(w ? span_of<double>(*w) : std::span<const double>(), binned.rows(), w.has_value(), together)),
      targets(columns) {
  if (y.size() != binned.rows() * targets) throw std::invalid_argument("X and y differ in length.");
  if (w && w->size() != binned.rows()) throw std::invalid_argument("y and sample_weight differ in length.");
}

namespace {

void check_rows(const PyCpuEngine::Rows& rows, const Loss& loss, const char* what) {
  const size_t n = rows.X.rows() * loss.outputs();
  if (rows.raw && rows.raw->size() != n)
    throw std::invalid_argument(std::string("Raw predictions of ") + what + " rows are needed for every output.");
}

// Codes are places in arrays.
void check_classes(const Doubles& y, size_t outputs) {
  const double classes = real(std::max<size_t>(outputs, 2));
  for (double code : span_of<double>(y))
    if (!(code >= 0 && code < classes)) throw std::invalid_argument("y has the code of a class that does not exist.");
}

void check_same_bins(const BinnedMatrix& X, const BinnedMatrix& X_val) {
  if (X.thresholds().cuts != X_val.thresholds().cuts || X.thresholds().offsets != X_val.thresholds().offsets)
    throw std::invalid_argument("X and X_val have different bins.");
}

}  // namespace

PyCpuEngine::PyCpuEngine(const Rows& train, const std::optional<Rows>& validation, std::unique_ptr<Loss> loss,
                         size_t targets, const EngineOptions& options, int threads, std::shared_ptr<ThreadPart> part,
                         bool merge, std::shared_ptr<const device::Device> device)
    : part_(std::move(part)), context_(threads, pressed_stop, together_of(part_)), loss_(std::move(loss)) {
  if (targets == 0 || (targets > 1 && targets != loss_->outputs()))
    throw std::invalid_argument("One output per column of y is needed.");
  check_rows(train, *loss_, "training");
  if (validation) {
    check_rows(*validation, *loss_, "validation");
    check_same_bins(train.X, validation->X);
  }
  has_raw_ = train.raw && (!validation || validation->raw);
  RawPredictions before;
  if (train.raw) before.train = vector_of(*train.raw);
  if (validation && validation->raw) before.validation = vector_of(*validation->raw);
  const nb::gil_scoped_release release;
  Together& together = context_.together();
  train_.emplace(train.X, train.y, train.weights, targets, together);
  train_sample_.emplace(train_->sample());
  if (validation) {
    validation_.emplace(validation->X, validation->y, validation->weights, targets, together);
    validation_sample_.emplace(validation_->sample());
  }
  if (merge && loss_->rowwise() && together.alone())
    merged_ = merge_equal_rows(train.X, train_sample_->target, before.train, context_);
  if (merged_) {
    train_sample_.emplace(Sample{*merged_->X, {merged_->y, &merged_->weights, targets}});
    before.train = merged_->raw;
  }
  const Sample* held = validation ? &*validation_sample_ : nullptr;
  if (device) {
    engine_ = std::make_unique<CudaEngine>(*train_sample_, held, *loss_, std::move(before), options, context_,
                                           std::move(device));
  } else {
    engine_ = std::make_unique<CpuEngine>(*train_sample_, held, *loss_, std::move(before), options, context_);
  }
}

namespace {

using Numbers = std::vector<size_t>;

void make(PyCpuEngine* self, const BinnedMatrix& X, const Doubles& y, const std::optional<Doubles>& weights,
          const std::optional<Doubles>& raw, const BinnedMatrix* X_val, const std::optional<Doubles>& y_val,
          const std::optional<Doubles>& weights_val, const std::optional<Doubles>& raw_val, const nb::object& loss,
          double loss_parameter, size_t outputs, double min_samples_leaf, std::uint64_t seed, int threads,
          std::shared_ptr<ThreadPart> part, bool merge, size_t targets, std::shared_ptr<device::Device> device) {
  std::optional<PyCpuEngine::Rows> validation;
  if (X_val && !y_val) throw std::invalid_argument("X_val is given without y_val.");
  if (X_val) validation.emplace(PyCpuEngine::Rows{*X_val, *y_val, weights_val, raw_val});
  if (nb::isinstance<nb::str>(loss) && nb::cast<std::string>(loss) == "log_loss") {
    check_classes(y, outputs);
    if (y_val) check_classes(*y_val, outputs);
  }
  try {
    new (self) PyCpuEngine({X, y, weights, raw}, validation, loss_of(loss, outputs, loss_parameter), targets,
                           {min_samples_leaf, seed}, threads, part, merge, std::move(device));
  } catch (const Interrupted&) {
    if (part) part->leave();
    throw nb::python_error();
  } catch (...) {
    if (part) part->leave();
    throw;
  }
}

using Step = PyCpuEngine::Step;

Engine& after(PyCpuEngine& self, Step step, const char* what) {
  if (self.step < step) throw std::invalid_argument(std::string("The engine must first be asked to ") + what + ".");
  return self.engine();
}

Engine& predicted(PyCpuEngine& self) {
  return after(self, Step::predicted, "predict");
}
Engine& derived(PyCpuEngine& self) {
  return after(self, Step::derived, "derive");
}
Engine& growing(PyCpuEngine& self) {
  return after(self, Step::growing, "begin_trees");
}
Engine& searching(PyCpuEngine& self) {
  return after(self, Step::searching, "begin_level");
}

void check_below(std::span<const size_t> numbers, size_t limit, const char* what) {
  for (size_t n : numbers)
    if (n >= limit) throw std::out_of_range(std::string("There is no such ") + what + ".");
}
size_t output_of(PyCpuEngine& self, size_t k) {
  check_below({&k, 1}, self.engine().outputs(), "output");
  return k;
}
size_t tree_of(PyCpuEngine& self, size_t t) {
  check_below({&t, 1}, self.trees, "tree");
  return t;
}
size_t node_of(PyCpuEngine& self, size_t n) {
  check_below({&n, 1}, self.level_size, "node");
  return n;
}
const Numbers& columns_of(PyCpuEngine& self, const Numbers& columns) {
  check_below(columns, self.engine().table().columns.size(), "column");
  return columns;
}
size_t column_number(PyCpuEngine& self, size_t c) {
  check_below({&c, 1}, self.engine().table().columns.size(), "column");
  return c;
}
const std::vector<double>& by_output(PyCpuEngine& self, const std::vector<double>& values) {
  if (values.size() != self.engine().outputs()) throw std::invalid_argument("One number per output is needed.");
  return values;
}

nb::dict table_of(PyCpuEngine& self) {
  const TableFacts& table = self.engine().table();
  nb::list columns, thresholds;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    columns.append(to_python(table.columns[c]));
    thresholds.append(to_list(table.thresholds->of(c)));
  }
  nb::dict out;
  out["rows"] = table.rows;
  out["weight"] = table.weight;
  out["weight_shift"] = table.weight_shift;
  out["weighted"] = table.weighted;
  out["targets"] = table.targets;
  out["columns"] = columns;
  out["thresholds"] = thresholds;
  out["scores"] = to_list(std::span<const std::int16_t>(table.thresholds->scores));
  return out;
}

nb::list all_sums(const std::vector<NodeSums>& sums) {
  nb::list out;
  for (const NodeSums& s : sums) out.append(to_python(s));
  return out;
}

nb::list splits_of(std::span<const ColumnSplit> splits) {
  nb::list out;
  for (const ColumnSplit& s : splits) out.append(to_python(s));
  return out;
}

nb::list begin_level(PyCpuEngine& self, const Numbers& open, bool squares) {
  Engine& engine = growing(self);
  check_below(open, self.level_size, "node");
  self.step = Step::searching;
  return all_sums(engine.begin_level(mask_of(open, self.level_size), squares));
}

void constrain(PyCpuEngine& self, const std::vector<int>& trends) {
  if (trends.size() != self.engine().table().columns.size())
    throw std::invalid_argument("One trend per column is needed.");
  std::vector<std::int8_t> checked;
  for (int trend : trends) {
    if (trend < -1 || trend > 1) throw std::invalid_argument("A trend is -1, 0 or 1.");
    checked.push_back(narrow<std::int8_t>(trend));
  }
  self.engine().constrain(checked);
}

void confine(PyCpuEngine& self, const std::vector<std::tuple<double, double>>& ranges) {
  Engine& engine = searching(self);
  if (ranges.size() != self.level_size) throw std::invalid_argument("One range per node is needed.");
  std::vector<ValueRange> out;
  for (const auto& [low, high] : ranges) out.push_back({low, high});
  engine.confine(out);
}

nb::list split(PyCpuEngine& self, const nb::list& rules, const Numbers& leaves) {
  std::vector<SplitRule> splits;
  Engine& engine = growing(self);
  for (const nb::handle rule : rules) {
    splits.push_back(rule_from(rule));
    node_of(self, splits.back().node);
    column_number(self, splits.back().column);
  }
  check_below(leaves, self.level_size, "node");
  std::vector<std::uint8_t> done = mask_of(leaves, self.level_size);
  for (const SplitRule& rule : splits) done[rule.node] = 1;
  self.level_size = 2 * splits.size() + index(std::count(done.begin(), done.end(), 0));
  self.step = Step::growing;
  return all_sums(engine.split(splits, leaves));
}

nb::list search(PyCpuEngine& self, const std::string& pool, const Numbers& nodes, bool deeper) {
  const size_t columns = searching(self).columns(pool_from(pool)).size();
  check_below(nodes, self.level_size, "node");
  std::vector<ColumnSplit> splits(self.level_size * columns);
  self.engine().search(pool_from(pool), mask_of(nodes, self.level_size), deeper, splits);
  nb::list out;
  for (size_t n : nodes) out.append(splits_of(std::span(splits).subspan(n * columns, columns)));
  return out;
}

nb::object best_split(PyCpuEngine& self, size_t node, size_t column) {
  const size_t place = searching(self).table().columns[column_number(self, column)].place;
  node_of(self, node);
  if (place == kNone) {
    std::vector<ColumnSplit> splits(self.level_size);
    self.engine().search_sparse({&column, 1}, mask_of({&node, 1}, self.level_size), splits);
    return to_python(splits[node]);
  }
  Piece piece{node, place / kByteBits, bit_of(place)};
  self.engine().search(Pool::all, {&piece, 1});
  return to_python(piece.splits[place % kByteBits]);
}

nb::tuple scale(PyCpuEngine& self, size_t output) {
  const OutputScale found = self.engine().scale(output_of(self, output));
  return nb::make_tuple(found.search, found.loss);
}

nb::tuple moved(PyCpuEngine& self, const std::vector<double>& full, const std::vector<double>& step) {
  const Moved found = derived(self).moved(by_output(self, full), by_output(self, step));
  nb::list outputs;
  for (const auto& o : found.outputs) outputs.append(nb::make_tuple(o.constant, o.impurity, o.squares));
  return nb::make_tuple(found.any, found.loss, outputs);
}

nb::tuple to_tuple(const GradientFacts& g) {
  return nb::make_tuple(g.shift, g.total, g.lowest, g.highest);
}
nb::tuple gradients(PyCpuEngine& self, size_t output) {
  return to_tuple(derived(self).gradients(output_of(self, output)));
}
nb::tuple tree_gradients(PyCpuEngine& self, size_t tree) {
  return to_tuple(growing(self).tree_gradients(tree_of(self, tree)));
}

nb::list leaf_sums(PyCpuEngine& self, size_t output) {
  nb::list out;
  for (const LeafSums& s : growing(self).leaf_sums(output_of(self, output)))
    out.append(nb::make_tuple(s.gradient, s.curvature, s.weight));
  return out;
}

nb::list listed(PyCpuEngine& self, size_t tree, const Numbers& columns) {
  nb::list out;
  for (size_t c : columns_of(self, columns))
    if (!self.engine().table().columns[c].sparse) throw std::invalid_argument("A dense column lists no rows.");
  for (const ListedSums& s : growing(self).listed(tree_of(self, tree), columns))
    out.append(nb::make_tuple(s.weight, s.squares));
  return out;
}

nb::list score_sums(PyCpuEngine& self, const Numbers& columns) {
  nb::list out;
  for (const ScoreSums& s : self.engine().score_sums(columns_of(self, columns)))
    out.append(nb::make_tuple(s.scores, to_python(s.squares)));
  return out;
}

nb::list score_gradients(PyCpuEngine& self, size_t output, const Numbers& columns) {
  nb::list out;
  for (Int128 sum : derived(self).score_gradients(output_of(self, output), columns_of(self, columns)))
    out.append(to_python(sum));
  return out;
}

nb::tuple line_sums(PyCpuEngine& self, size_t output, size_t column) {
  const LineSums s = derived(self).line_sums(output_of(self, output), column_number(self, column));
  return nb::make_tuple(s.g, s.gz, s.h, s.hz, s.hzz);
}

void add_line(PyCpuEngine& self, size_t output, size_t column, double value, double slope) {
  predicted(self).add_line(output_of(self, output), column_number(self, column), value, slope);
  self.step = Step::predicted;
}

void begin_trees(PyCpuEngine& self, const std::vector<int>& signs, std::uint64_t key, double share) {
  if (!signs.empty() && signs.size() != self.engine().outputs())
    throw std::invalid_argument("One sign per output is needed, or none.");
  std::vector<std::int8_t> checked;
  for (int sign : signs) {
    if (sign < -1 || sign > 1) throw std::invalid_argument("A sign is -1, 0 or 1.");
    checked.push_back(narrow<std::int8_t>(sign));
  }
  if (share < 1.0 && self.rows_are_merged())
    throw std::invalid_argument("Rows can't be drawn: the engine was made with merge=True and has merged equal ones.");
  derived(self).begin_trees(checked, {key, share});
  self.level_size = self.trees = checked.empty() ? self.engine().outputs() : 1;
  self.step = Step::growing;
}

void predict(PyCpuEngine& self, const std::vector<double>& constants) {
  self.engine().predict(by_output(self, constants));
  self.step = Step::predicted;
}

void predict_as_before(PyCpuEngine& self) {
  if (!self.can_continue()) throw std::invalid_argument("The engine was made without raw predictions.");
  self.engine().predict_as_before();
  self.step = Step::predicted;
}

nb::tuple losses(PyCpuEngine& self) {
  const Losses found = predicted(self).losses();
  self.step = std::max(self.step, Step::judged);
  return nb::make_tuple(found.train, found.validation);
}

void derive(PyCpuEngine& self) {
  after(self, Step::judged, "give its losses").derive();
  self.step = Step::derived;
}

nb::list unseen(PyCpuEngine& self, const Numbers& nodes, const Numbers& columns) {
  Engine& engine = growing(self);
  check_below(nodes, self.level_size, "node");
  engine.keep_looks();
  return to_list(std::span<const std::int64_t>(engine.unseen(nodes, columns_of(self, columns))));
}

// `flags`: of all rows, column after column.
void remember(PyCpuEngine& self, const Numbers& columns, const Flags& flags) {
  const std::vector<std::uint8_t> given(flags.data(), flags.data() + flags.size());
  if (given.size() != columns.size() * self.rows())
    throw std::invalid_argument("A flag is needed for every column and row.");
  if (self.rows_are_merged()) throw std::invalid_argument("Rows that were merged have no looks of their own.");
  self.remember(columns_of(self, columns), given);
}

void route(PyCpuEngine& self, const nb::list& rules, const Numbers& leaves) {
  std::vector<SplitRule> splits;
  for (const nb::handle rule : rules) {
    splits.push_back(rule_from(rule));
    column_number(self, splits.back().column);
  }
  growing(self).route(splits, leaves);
}

// The single steps, under the names that an engine written in Python has.
void bind_steps(nb::class_<PyCpuEngine>& c) {
  c.def("table", &table_of)
      .def("outputs", [](PyCpuEngine& self) { return self.engine().outputs(); })
      .def("step_limit", [](PyCpuEngine& self) { return self.engine().step_limit(); })
      .def("leaf_quantile", [](PyCpuEngine& self) { return self.engine().leaf_quantile(); })
      .def("best_constant", [](PyCpuEngine& self) { return self.engine().best_constant(); })
      .def("scale", &scale, "output"_a)
      .def("constrain", &constrain, "trends"_a)
      .def("confine", &confine, "ranges"_a)
      .def("predict", &predict, "constants"_a)
      .def("predict_as_before", &predict_as_before)
      .def("losses", &losses)
      .def(
          "validation_raw",
          [](PyCpuEngine& self) {
            const auto raw = self.validation_raw();
            return to_numpy(std::vector<double>(raw.begin(), raw.end()));
          },
          "The raw predictions of the validation rows, output after output.")
      .def("derive", &derive)
      .def("gradients", &gradients, "output"_a)
      .def(
          "impurity", [](PyCpuEngine& self, size_t k) { return derived(self).impurity(output_of(self, k)); },
          "output"_a)
      .def("moved", &moved, "full"_a, "step"_a)
      .def("begin_trees", &begin_trees, "signs"_a, "key"_a = 0, "share"_a = 1.0)
      .def(
          "root", [](PyCpuEngine& self, size_t t) { return to_python(growing(self).root(tree_of(self, t))); }, "tree"_a)
      .def("tree_gradients", &tree_gradients, "tree"_a)
      .def(
          "probe", [](PyCpuEngine& self, std::uint64_t number) { return derived(self).probe(number); }, "number"_a)
      .def(
          "gradient_move", [](PyCpuEngine& self, size_t k) { return derived(self).gradient_move(output_of(self, k)); },
          "output"_a)
      .def("begin_level", &begin_level, "open"_a, "squares"_a)
      .def("split", &split, "splits"_a, "leaves"_a)
      .def("keep_looks", [](PyCpuEngine& self) { self.engine().keep_looks(); })
      .def("remember", &remember, "columns"_a, "flags"_a, "Rows that looked at columns in a fit that is continued.")
      .def(
          "looked",
          [](PyCpuEngine& self, const Numbers& columns) {
            self.engine().keep_looks();
            return to_list(std::span<const std::int64_t>(self.engine().looked(columns_of(self, columns))));
          },
          "columns"_a)
      .def("unseen", &unseen, "nodes"_a, "columns"_a)
      .def(
          "look",
          [](PyCpuEngine& self, size_t n, size_t c) {
            self.engine().keep_looks();
            growing(self).look(node_of(self, n), column_number(self, c));
          },
          "node"_a, "column"_a)
      .def("route", &route, "splits"_a, "leaves"_a)
      .def(
          "columns",
          [](PyCpuEngine& self, const std::string& pool) { return to_list(self.engine().columns(pool_from(pool))); },
          "pool"_a)
      .def(
          "own", [](PyCpuEngine& self, const Numbers& columns) { self.engine().own(columns_of(self, columns)); },
          "columns"_a)
      .def(
          "offer", [](PyCpuEngine& self, const Numbers& columns) { self.engine().offer(columns_of(self, columns)); },
          "columns"_a)
      .def("search", &search, "pool"_a, "nodes"_a, "deeper"_a)
      .def("best_split", &best_split, "node"_a, "column"_a)
      .def(
          "cells",
          [](PyCpuEngine& self, size_t n, size_t c) {
            return searching(self).cells(node_of(self, n), column_number(self, c));
          },
          "node"_a, "column"_a)
      .def("listed", &listed, "tree"_a, "columns"_a)
      .def("leaf_sums", &leaf_sums, "output"_a)
      .def(
          "leaf_quantiles",
          [](PyCpuEngine& self, size_t k, double level) {
            return growing(self).leaf_quantiles(output_of(self, k), level);
          },
          "output"_a, "level"_a)
      .def("score_sums", &score_sums, "columns"_a)
      .def("score_gradients", &score_gradients, "output"_a, "columns"_a)
      .def("line_sums", &line_sums, "output"_a, "column"_a)
      .def(
          "line_quantile",
          [](PyCpuEngine& self, size_t k, size_t c, double intercept, double level) {
            return predicted(self).line_quantile(output_of(self, k), column_number(self, c), intercept, level);
          },
          "output"_a, "column"_a, "intercept"_a, "level"_a)
      .def(
          "curvatures",
          [](PyCpuEngine& self, size_t k, const Numbers& columns) {
            return derived(self).curvatures(output_of(self, k), columns_of(self, columns));
          },
          "output"_a, "columns"_a)
      .def("add_line", &add_line, "output"_a, "column"_a, "value"_a, "slope"_a);
}

}  // namespace

// A GPU behind a plugin.
void bind_device(nb::module_& m) {
  nb::class_<device::Device>(m, "Device", "A GPU, through the library of a plugin.")
      .def(nb::new_([](const std::string& library, int number) {
             return std::make_shared<device::Device>(library, number);
           }),
           "library"_a, "number"_a = 0)
      .def_prop_ro("name", [](const device::Device& d) { return std::string(d.facts().name); })
      .def_prop_ro("free_bytes", [](const device::Device& d) { return d.facts().free_bytes; })
      .def_prop_ro("total_bytes", [](const device::Device& d) { return d.facts().total_bytes; })
      .def_prop_ro("is_emulated", [](const device::Device& d) { return d.facts().emulated != 0; });
  nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
    try {
      std::rethrow_exception(raised);
    } catch (const device::OutOfDeviceMemory& error) {
      PyErr_SetString(PyExc_MemoryError, error.what());
    }
  });
}

void bind_engine(nb::module_& m) {
  bind_device(m);
  nb::class_<PyCpuEngine> engine(m, "CpuEngine", "Computes everything that has one entry per row, on the CPU.");
  engine.def("__init__", &make, "X"_a, "y"_a, "weights"_a.none(), "raw"_a.none(), "X_val"_a.none(), "y_val"_a.none(),
             "weights_val"_a.none(), "raw_val"_a.none(), "loss"_a, "loss_parameter"_a, "outputs"_a,
             "min_samples_leaf"_a, "seed"_a, "threads"_a, "part"_a.none() = nb::none(), "merge"_a = true,
             "targets"_a = 1, "device"_a.none() = nb::none(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 6>());
  bind_steps(engine);
}

}  // namespace frugal
