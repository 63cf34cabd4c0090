// Tables in Python: numeric, sparse, and in bins.
#include <numeric>

#include "bind/python.hpp"
#include "data/binning.hpp"
#include "data/scores.hpp"
#include "data/threshold_finder.hpp"

namespace frugal {
namespace {

using Matrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

Element element_of(nb::dlpack::dtype dtype) {
  const std::pair<nb::dlpack::dtype, Element> known[] = {
      {nb::dtype<double>(), Element::f64},        {nb::dtype<float>(), Element::f32},
      {nb::dtype<std::int64_t>(), Element::i64},  {nb::dtype<std::int32_t>(), Element::i32},
      {nb::dtype<std::int16_t>(), Element::i16},  {nb::dtype<std::int8_t>(), Element::i8},
      {nb::dtype<std::uint64_t>(), Element::u64}, {nb::dtype<std::uint32_t>(), Element::u32},
      {nb::dtype<std::uint16_t>(), Element::u16}, {nb::dtype<std::uint8_t>(), Element::u8},
      {nb::dtype<bool>(), Element::boolean},
  };
  for (const auto& [known_type, element] : known)
    if (dtype == known_type) return element;
  throw std::invalid_argument("X must hold numbers of a type that numpy and C share.");
}

size_t checked_rows(size_t rows) {
  if (rows > 0xFFFFFFFEu) throw std::invalid_argument("X has more than 4,294,967,294 rows.");
  return rows;
}

// Tables together with the arrays they look at.
struct PyTable : Table {
  std::vector<AnyVector> columns_kept;
  std::optional<Matrix> matrix_kept;

  explicit PyTable(Matrix X) : Table(checked_rows(X.shape(0)), columns_of(X)), matrix_kept(std::move(X)) {}
  PyTable(size_t rows, std::vector<AnyVector> columns)
      : Table(checked_rows(rows), columns_of(rows, columns)), columns_kept(std::move(columns)) {}

  static std::vector<Column> columns_of(const Matrix& X) {
    const Element element = element_of(X.dtype());
    const auto* data = static_cast<const char*>(X.data());
    const auto step = X.stride(1) * narrow<std::ptrdiff_t>(X.itemsize());  // bytes
    std::vector<Column> out;
    for (size_t c = 0; c < X.shape(1); ++c)
      out.push_back({data + narrow<std::ptrdiff_t>(c) * step, element, X.stride(0)});
    return out;
  }
  static std::vector<Column> columns_of(size_t rows, const std::vector<AnyVector>& columns) {
    std::vector<Column> out;
    for (const AnyVector& c : columns) {
      if (c.shape(0) != rows) throw std::invalid_argument("The columns of a table differ in length.");
      out.push_back({c.data(), element_of(c.dtype()), c.stride(0)});
    }
    return out;
  }
};

struct PySparse : SparseTable {
  AnyVector values, indices, begins;

  static Element whole(const AnyVector& a) {
    const Element e = element_of(a.dtype());
    if (e != Element::i32 && e != Element::i64) throw std::invalid_argument("Indices must be int32 or int64.");
    return e;
  }
  PySparse(size_t rows, size_t columns, AnyVector v, AnyVector i, AnyVector b)
      : SparseTable(checked_rows(rows), columns, v.data(), element_of(v.dtype()), i.data(), whole(i), b.data(),
                    whole(b)),
        values(std::move(v)),
        indices(std::move(i)),
        begins(std::move(b)) {
    for (const AnyVector* a : {&values, &indices, &begins})
      if (a->stride(0) != 1 && a->shape(0) > 1) throw std::invalid_argument("The arrays must be contiguous.");
    if (begins.shape(0) != columns + 1 || values.shape(0) != indices.shape(0))
      throw std::invalid_argument("The sparse matrix is damaged: its arrays differ in length.");
    check(values.shape(0));
  }
};

Thresholds thresholds_of(const Doubles& cuts, const Longs& offsets, const Flags& categorical) {
  Thresholds t;
  t.cuts.assign(cuts.data(), cuts.data() + cuts.size());
  t.offsets.assign(offsets.data(), offsets.data() + offsets.size());
  t.categorical.assign(categorical.data(), categorical.data() + categorical.size());
  // Negative offsets become too large.
  if (t.offsets.size() != t.categorical.size() + 1 || t.offsets[0] != 0 || t.offsets.back() != t.cuts.size())
    throw std::invalid_argument("The thresholds do not fit together.");
  for (size_t c = 0; c < t.columns(); ++c)
    if (t.offsets[c + 1] < t.offsets[c] || t.offsets[c + 1] - t.offsets[c] > 254)
      throw std::invalid_argument("A column has more than 255 bins.");
  return t;
}

// Rows or columns of a table of this size; all if none are given.
template <class Place>
std::vector<Place> places_of(const std::optional<Longs>& given, size_t size) {
  std::vector<Place> places(given ? given->size() : size);
  std::iota(places.begin(), places.end(), Place{0});
  for (size_t i = 0; given && i < places.size(); ++i) {
    const std::int64_t place = given->data()[i];
    if (place < 0 || index(place) >= size) throw std::invalid_argument("There is no such row or column.");
    places[i] = narrow<Place>(place);
  }
  return places;
}

// Thresholds as arrays: (cuts, offsets).
auto arrays_of(Thresholds t) {
  const std::vector<std::int64_t> offsets(t.offsets.begin(), t.offsets.end());
  return std::tuple(to_numpy(std::move(t.cuts)), to_numpy(offsets));
}

// Weights of a batch in the units of all weights.
std::vector<std::int64_t> units_of(const std::optional<Doubles>& weights, int shift) {
  std::vector<std::int64_t> units;
  if (weights)
    for (double w : span_of<double>(*weights)) units.push_back(to_grid(w, shift));
  return units;
}

// `numbers`: of the rows in the whole table.
template <class T>
void add_to(ThresholdFinder& finder, const T& X, const Longs& numbers, const std::optional<Doubles>& weights, int shift,
            int threads) {
  if (X.columns() != finder.columns() || numbers.size() != X.rows() || (weights && weights->size() != X.rows()))
    throw std::invalid_argument("X has another number of columns, or numbers or weights of another length.");
  without_lock(threads, [&](Context& context) {
    const auto units = units_of(weights, shift);
    const std::int64_t* own = weights ? units.data() : nullptr;
    auto number = [&](size_t i) { return narrow<std::uint64_t>(numbers.data()[i]); };
    finder.add(X, RowLevels(X.rows(), number, own, finder.highest_level()), own, context);
  });
}

SampleRule rule_of(size_t sampled_from) {
  return {std::max<size_t>(1, sampled_from)};
}

template <class Py>
auto thresholds_of_whole(const Py& X, const std::optional<Doubles>& weights, int shift, size_t max_bins,
                         size_t most_cells, size_t sampled_from, int threads) {
  if (weights && weights->size() != X.rows()) throw std::invalid_argument("There must be a weight for every row.");
  Thresholds t = without_lock(threads, [&](Context& context) {
    const auto units = units_of(weights, shift);
    return thresholds_of(X, weights ? units.data() : nullptr, max_bins, std::max<size_t>(most_cells, 2),
                         rule_of(sampled_from), context);
  });
  return arrays_of(std::move(t));
}

using Memory = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig>;

// Memory of a Python object, which is kept alive as long as the matrix.
BinnedMatrix::Bytes borrowed(const std::optional<Memory>& memory, size_t needed) {
  if (!memory) return nullptr;
  if (memory->size() < needed) throw std::invalid_argument("The memory for the bins is too small.");
  auto* kept = new Memory(*memory);
  return BinnedMatrix::Bytes(memory->data(), [kept](std::uint8_t*) {
    nb::gil_scoped_acquire lock;
    delete kept;
  });
}

void make_empty(BinnedMatrix* self, size_t rows, const Doubles& cuts, const Longs& offsets, const Flags& categorical,
                const std::optional<Memory>& memory) {
  Thresholds t = thresholds_of(cuts, offsets, categorical);
  const size_t needed = BinnedMatrix::bytes_needed(checked_rows(rows), t.columns());
  new (self) BinnedMatrix(rows, std::move(t), borrowed(memory, needed));
}

void make_from_sparse(BinnedMatrix* self, const PySparse& X, const Doubles& cuts, const Longs& offsets,
                      const Flags& categorical, int threads, const Part& part) {
  Thresholds t = thresholds_of(cuts, offsets, categorical);
  if (t.columns() != X.columns()) throw std::invalid_argument("X and the thresholds differ in columns.");
  for (std::uint8_t c : t.categorical)
    if (c) throw std::invalid_argument("A sparse table has no categorical columns.");
  new (self) BinnedMatrix(
      without_lock(threads, [&](Context& context) { return BinnedMatrix(X, std::move(t), context); }, part));
}

void fill(BinnedMatrix& self, const PyTable& batch, const Longs& places, int threads) {
  if (batch.columns() != self.columns() || places.size() != batch.rows())
    throw std::invalid_argument("The batch does not fit the matrix.");
  for (std::int64_t p : span_of<std::int64_t>(places))
    if (p >= 0 && index(p) >= self.rows()) throw std::invalid_argument("There is no such row.");
  without_lock(threads, [&](Context& context) { self.fill(batch, span_of<std::int64_t>(places), context); });
}

void list_sparse(BinnedMatrix& self, int threads, const Part& part) {
  without_lock(threads, [&](Context& context) { self.list_sparse(context); }, part);
}

BinnedMatrix take(const BinnedMatrix& self, const std::optional<Longs>& columns, const std::optional<Longs>& rows,
                  int threads) {
  const auto c = places_of<size_t>(columns, self.columns());
  const auto r = places_of<Row>(rows, self.rows());
  return without_lock(threads, [&](Context& context) { return BinnedMatrix(self, c, r, context); });
}

// Scores for the bins, from the weights of the rows, or those given.
void score_bins(BinnedMatrix& self, const std::optional<Doubles>& weights, LineScale scale, int threads,
                const Part& part) {
  if (weights && weights->size() != self.rows()) throw std::invalid_argument("There must be a weight for every row.");
  without_lock(
      threads,
      [&](Context& context) {
        const auto given = weights ? span_of<double>(*weights) : std::span<const double>();
        const Weights units = Weights::from(given, self.rows(), weights.has_value(), context.together());
        self.set_scores(bin_scores(self, units, scale, context));
      },
      part);
}

auto numbers_of_bins(const BinnedMatrix& self) {
  std::vector<std::int32_t> out;
  for (size_t c = 0; c < self.columns(); ++c) out.push_back(self.value_bins(c));
  return to_numpy(std::move(out));
}

auto scores_of(const BinnedMatrix& self) {
  return to_numpy(self.thresholds().scores);
}

void check_column(const BinnedMatrix& self, size_t column) {
  if (column >= self.columns()) throw std::invalid_argument("There is no such column.");
}

auto bins_of(const BinnedMatrix& self, size_t column) {
  check_column(self, column);
  std::vector<std::uint8_t> out(self.rows());
  self.copy(column, 0, self.rows(), out.data(), 1);
  return to_numpy(std::move(out));
}

auto cuts_of(const BinnedMatrix& self, size_t column) {
  check_column(self, column);
  const auto cuts = self.thresholds().of(column);
  return to_numpy(std::vector<double>(cuts.begin(), cuts.end()));
}

// An array that looks into the matrix, which stays alive with it.
template <class T>
auto view_of(const BinnedMatrix& owner, std::span<const T> values) {
  return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()}, nb::find(owner));
}

void bind_binned(nb::module_& m) {
  nb::enum_<LineScale>(m, "LineScale").value("ranks", LineScale::ranks).value("values", LineScale::values);
  nb::class_<BinnedMatrix, Source>(m, "BinnedMatrix")
      .def("__init__", &make_empty, "rows"_a, "cuts"_a, "offsets"_a, "categorical"_a, "memory"_a.none(),
           "A matrix of this many rows, to be filled.")
      .def("__init__", &make_from_sparse, "X"_a, "cuts"_a, "offsets"_a, "categorical"_a, "threads"_a,
           "part"_a.none() = nb::none())
      .def("fill", &fill, "batch"_a, "places"_a, "threads"_a,
           "Bin some rows: row i becomes row places[i]; rows with a negative place are left out.")
      .def("list_sparse", &list_sparse, "threads"_a, "part"_a.none() = nb::none(),
           "After all rows were filled in: make columns sparse in which nearly all rows have the same bin.")
      .def("take", &take, "columns"_a.none(), "rows"_a.none(), "threads"_a,
           "Some columns and rows, None for all; the same as binning that part of the table.")
      .def("score_bins", &score_bins, "weights"_a.none(), "scale"_a, "threads"_a, "part"_a.none() = nb::none(),
           "Give every bin a score, on which lines are drawn.")
      .def_prop_rw(
          "scores", &scores_of,
          [](BinnedMatrix& self, const Shorts& scores) {
            self.set_scores(std::vector<std::int16_t>(scores.data(), scores.data() + scores.size()));
          },
          nb::rv_policy::automatic, "The scores of all bins of values, one column after another; empty without lines.")
      .def_prop_ro("n_bins", &numbers_of_bins, nb::rv_policy::automatic, "How many bins of values each column has.")
      .def("bins", &bins_of, "column"_a,
           "The bin of every row; missing values are in the bin after those of all values.")
      .def("cuts", &cuts_of, "column"_a, "The thresholds between its bins.")
      .def(
          "is_categorical",
          [](const BinnedMatrix& self, size_t column) { return column < self.columns() && self.categorical(column); },
          "column"_a)
      .def_prop_ro(
          "bytes", [](const BinnedMatrix& b) { return view_of(b, b.bytes()); },
          "The memory of the bins of dense columns.")
      .def_prop_ro(
          "listed_bins", [](const BinnedMatrix& b) { return view_of(b, b.listed_bins()); },
          "The bins of sparse columns.")
      .def_prop_ro(
          "listed_rows", [](const BinnedMatrix& b) { return view_of(b, b.listed_rows()); }, "The rows of these bins.");
}

int shift_of(const Doubles& weights, const Part& part) {
  return without_lock(
      1,
      [&](Context& context) {
        return Weights::from(span_of<double>(weights), weights.size(), true, context.together()).shift;
      },
      part);
}

auto thresholds_found(const ThresholdFinder& self, size_t max_bins, int threads) {
  Thresholds t;
  without_lock(threads, [&](Context& context) { self.append_to(t, max_bins, context); });
  return arrays_of(std::move(t));
}

}  // namespace

void bind_tables(nb::module_& m) {
  nb::class_<Source>(m, "Source").def_prop_ro("shape", [](const Source& s) {
    return std::tuple(s.rows(), s.columns());
  });
  nb::class_<PyTable, Source>(m, "Table")
      .def(nb::init<Matrix>(), "X"_a)
      .def(nb::init<size_t, std::vector<AnyVector>>(), "rows"_a, "columns"_a);
  nb::class_<PySparse, Source>(m, "SparseTable")
      .def(nb::init<size_t, size_t, AnyVector, AnyVector, AnyVector>(), "rows"_a, "columns"_a, "values"_a, "indices"_a,
           "begins"_a, "By column: values, their rows, and where each column begins.");
  m.def("weight_shift", &shift_of, "weights"_a, "part"_a.none() = nb::none(),
        "The grid of all weights of a table: weight = unit / 2^shift.");
  nb::class_<ThresholdFinder>(m, "ThresholdFinder")
      .def(
          "__init__",
          [](ThresholdFinder* self, size_t columns, size_t most_cells, size_t sampled_from, size_t rows) {
            new (self) ThresholdFinder(columns, std::max<size_t>(most_cells, 2), rule_of(sampled_from), rows);
          },
          "columns"_a, "most_cells"_a, "sampled_from"_a, "rows"_a, "rows: of the whole table; 0: not known yet.")
      .def("add", &add_to<PyTable>, "X"_a, "numbers"_a, "weights"_a.none(), "shift"_a, "threads"_a,
           "Add rows, each with its number in the whole table.")
      .def("add", &add_to<PySparse>, "X"_a, "numbers"_a, "weights"_a.none(), "shift"_a, "threads"_a)
      .def(
          "add_parts",
          [](ThresholdFinder& self, const Part& part) {
            without_lock(1, [&](Context& context) { self.add_parts(context.together()); }, part);
          },
          "part"_a, "Add what other parts of the table have added.")
      .def("thresholds", &thresholds_found, "max_bins"_a, "threads"_a,
           "Thresholds between the bins of every column: (cuts, offsets).");
  m.def("thresholds_of", &thresholds_of_whole<PyTable>, "X"_a, "weights"_a.none(), "shift"_a, "max_bins"_a,
        "most_cells"_a, "sampled_from"_a, "threads"_a,
        "The same for a table in memory, some columns at a time. Tables of more than sampled_from rows are sampled.");
  m.def("thresholds_of", &thresholds_of_whole<PySparse>, "X"_a, "weights"_a.none(), "shift"_a, "max_bins"_a,
        "most_cells"_a, "sampled_from"_a, "threads"_a);
  bind_binned(m);
}

}  // namespace frugal
