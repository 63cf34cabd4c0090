// What all bindings need: arrays from and to Python, and work without the interpreter lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <vector>

#include "data/table.hpp"
#include "loss/losses.hpp"
#include "price/prices.hpp"
#include "support/thread_parts.hpp"
#include "support/threads.hpp"

namespace frugal {

namespace nb = nanobind;
using namespace nb::literals;

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Shorts = nb::ndarray<const std::int16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Longs = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
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

inline std::vector<double> vector_of(const Doubles& a) {
  return {a.data(), a.data() + a.size()};
}

// Whether the user has pressed Ctrl-C.
inline bool pressed_stop() {
  nb::gil_scoped_acquire lock;
  return PyErr_CheckSignals() != 0;
}

using Part = std::shared_ptr<ThreadPart>;

inline Together& together_of(const Part& part) {
  if (part) return *part;
  return alone();
}

// Runs work without the interpreter lock. Ctrl-C ends it and is raised in Python. If the rows are a part of a table, an
// error ends the other parts too.
template <class Work>
auto without_lock(int threads, const Work& work, const Part& part = nullptr) {
  Context context(threads, pressed_stop, together_of(part));
  try {
    nb::gil_scoped_release release;
    return work(context);
  } catch (const Interrupted&) {
    if (part) part->leave();
    throw nb::python_error();
  } catch (...) {
    if (part) part->leave();
    throw;
  }
}

// `size` lists of numbers below `limit`.
Lists lists_of(const Longs& begin, const Ints& items, size_t size, size_t limit);

// Copies of price rules for a ledger.
std::vector<std::unique_ptr<PriceRule>> copies_of(const std::vector<const PriceRule*>& rules);

// A built-in loss by name, or a Python object with the methods of a loss.
std::unique_ptr<Loss> loss_of(const nb::object& loss, size_t outputs, double parameter);

// A target with its weights. It has one column, or one for each output.
struct PyTarget {
  Weights weights;
  Target sample;
  PyTarget(const Doubles& y, const std::optional<Doubles>& w, size_t columns = 1)
      : weights(Weights::from(w ? span_of<double>(*w) : std::span<const double>(), y.size() / columns, w.has_value())),
        sample{span_of<double>(y), &weights, columns} {
    if (y.size() % columns) throw std::invalid_argument("The columns of y differ in length.");
    if (w && w->size() != y.size() / columns) throw std::invalid_argument("y and sample_weight differ in length.");
  }
};

// The bindings, one file for each noun.
void bind_parts(nb::module_& m);
void bind_tables(nb::module_& m);
void bind_prices(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_boosting(nb::module_& m);
void bind_predict(nb::module_& m);

}  // namespace frugal
