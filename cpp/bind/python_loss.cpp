// Losses written in Python.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "bind/python.hpp"

namespace frugal {
namespace {

// A loss written in Python: any object with the methods start, gradient, curvature and perhaps value. They are called a
// few times per iteration, with whole arrays.
class PythonLoss final : public Loss {
 public:
  PythonLoss(nb::object object, size_t outputs) : object_(std::move(object)), outputs_(outputs) {}
  ~PythonLoss() override {
    nb::gil_scoped_acquire lock;
    object_.reset();
  }
  size_t outputs() const override { return outputs_; }
  bool rowwise() const override { return false; }

  std::vector<double> start(const Target& t, Context& context) override {
    if (!context.together().alone())
      throw std::invalid_argument("A loss of your own finds its start from all rows; this table lies in parts.");
    nb::gil_scoped_acquire lock;
    std::vector<double> weights(t.rows());
    for (size_t i = 0; i < t.rows(); ++i) weights[i] = scaled(real(t.weights->unit(i)), -t.weights->shift);
    nb::object answer = object_.attr("start")(view(t.y.data(), t.rows(), t.columns), to_numpy(std::move(weights)));
    return doubles(answer, 1, outputs_, "start");
  }
  double mean(const Target& t, const double* raw, Context& context) override {
    std::vector<double> values;
    {
      nb::gil_scoped_acquire lock;
      g_.clear();
      if (!nb::hasattr(object_, "value")) return std::numeric_limits<double>::quiet_NaN();
      nb::object answer = object_.attr("value")(view(t.y.data(), t.rows(), t.columns), view(raw, t.rows(), outputs_));
      values = doubles(answer, t.rows(), 1, "value");
    }
    return weighted_mean(t, context, shift_of(t), [&](size_t begin, size_t end, double* out) {
      std::copy(values.data() + begin, values.data() + end, out);
    });
  }
  void derivatives(const Target& t, const double* raw, size_t k, double* g, double* h, Context&) override {
    const size_t n = t.rows();
    if (g_.empty()) {  // once for all outputs, before any of them moves
      nb::gil_scoped_acquire lock;
      auto y = view(t.y.data(), n, t.columns);
      auto f = view(raw, n, outputs_);
      g_ = doubles(object_.attr("gradient")(y, f), n, outputs_, "gradient");
      h_ = doubles(object_.attr("curvature")(y, f), n, outputs_, "curvature");
    }
    const size_t step = outputs_;
    for (size_t i = 0; i < n; ++i) {
      g[i] = -g_[i * step + k];
      h[i] = h_[i * step + k];
      if (h[i] < 0) throw std::domain_error("The custom loss gave a curvature that is negative.");
    }
  }

 private:
  // Rows of one output as a vector, of several outputs as a matrix (rows, outputs).
  static nb::object view(const double* data, size_t rows, size_t outputs) {
    using View = nb::ndarray<nb::numpy, const double>;
    if (outputs == 1) return nb::cast(View(data, {rows}), nb::rv_policy::copy);
    const std::int64_t steps[] = {1, narrow<std::int64_t>(rows)};
    const size_t shape[] = {rows, outputs};
    return nb::cast(View(data, 2, shape, nb::handle(), steps), nb::rv_policy::copy);
  }
  // The result of a method, as rows of `outputs` finite numbers.
  static std::vector<double> doubles(const nb::object& answer, size_t rows, size_t outputs, const char* method) {
    const std::string who = "The custom loss's method '" + std::string(method) + "' gave ";
    nb::object array;
    try {
      array = nb::module_::import_("numpy").attr("ascontiguousarray")(answer, "float64");
    } catch (nb::python_error& error) {
      nb::raise_from(error, PyExc_TypeError, "%ssomething that is not an array of numbers.", who.c_str());
    }
    const auto values = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(array);
    const bool fits = outputs == 1 ? values.size() == rows
                                   : values.size() == rows * outputs &&
                                         (rows == 1 || (values.ndim() == 2 && values.shape(0) == rows));
    if (!fits)
      throw std::invalid_argument(who + std::to_string(values.size()) + " numbers where " + std::to_string(rows) +
                                  (outputs == 1 ? "" : " rows of " + std::to_string(outputs)) + " were expected.");
    for (size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values.data()[i])) throw std::domain_error(who + "a number that is not finite.");
    return {values.data(), values.data() + values.size()};
  }

  nb::object object_;
  size_t outputs_;
  std::vector<double> g_, h_;
};

}  // namespace

std::unique_ptr<Loss> loss_of(const nb::object& loss, size_t outputs, double parameter) {
  if (nb::isinstance<nb::str>(loss)) return make_loss(nb::cast<std::string>(loss), outputs, parameter);
  return std::make_unique<PythonLoss>(loss, outputs);
}

}  // namespace frugal
