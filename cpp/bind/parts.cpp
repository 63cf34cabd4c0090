// The parts of a table in Python.
#include <cstring>

#include "bind/python.hpp"

namespace frugal {
namespace {

// A part whose values a Python object carries to the others, in other processes or on other machines. It gets
// arrays that it fills with the sums and maxima over all parts; they are valid during the call only.
class CarriedPart final : public ThreadPart {
 public:
  CarriedPart(size_t part, size_t parts, nb::object carrier)
      : part_(part), parts_(parts), carrier_(std::move(carrier)) {
    if (part >= parts) throw std::invalid_argument("A part's number must be smaller than the number of parts.");
  }
  ~CarriedPart() override {
    nb::gil_scoped_acquire lock;
    carrier_.reset();
  }
  size_t part() const override { return part_; }
  size_t parts() const override { return parts_; }
  void sum(std::span<std::int64_t> values, const char* what) override { sum_and_largest(values, {}, what); }
  void largest(std::span<double> values, const char* what) override { sum_and_largest({}, values, what); }
  void sum_and_largest(std::span<std::int64_t> sums, std::span<double> most, const char* what) override {
    if (parts_ == 1) return;
    nb::gil_scoped_acquire lock;
    carrier_.attr("exchange")(view(sums), view(most), what);
  }
  void leave() override {
    nb::gil_scoped_acquire lock;
    carrier_.attr("leave")();
  }

 private:
  template <class T>
  static nb::object view(std::span<T> values) {
    return nb::cast(NumpyVector<T>(values.data(), {values.size()}), nb::rv_policy::reference);
  }

  size_t part_, parts_;
  nb::object carrier_;
};

std::vector<nb::bytes> gather(ThreadPart& part, const nb::bytes& own) {
  std::vector<std::int64_t> words(1 + (own.size() + 7) / 8);
  words[0] = narrow<std::int64_t>(own.size());
  if (own.size() > 0) std::memcpy(words.data() + 1, own.c_str(), own.size());
  std::vector<std::vector<std::int64_t>> all;
  {
    const nb::gil_scoped_release release;
    all = gathered(part, words, "what Python sends");
  }
  std::vector<nb::bytes> out;
  for (const auto& one : all) out.emplace_back(reinterpret_cast<const char*>(one.data() + 1), one[0]);
  return out;
}

}  // namespace

void bind_parts(nb::module_& m) {
  nb::class_<ThreadPart>(m, "ThreadPart", "One part of a table, connected with the others.")
      .def_prop_ro("part", &ThreadPart::part)
      .def_prop_ro("parts", &ThreadPart::parts)
      .def("leave", &ThreadPart::leave, "Leave: all other parts stop with an error.")
      .def(
          "sum",
          [](ThreadPart& part, const nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& values) {
            const nb::gil_scoped_release release;
            part.sum({values.data(), values.size()}, "what Python sums");
          },
          "values"_a, "Replace whole numbers by their sums over all parts.")
      .def("gather", &gather, "own"_a, "The bytes of each part, in the order of parts.");
  nb::class_<CarriedPart, ThreadPart>(m, "CarriedPart",
                                      "A part of a table whose values an object carries to the others.")
      .def(nb::init<size_t, size_t, nb::object>(), "part"_a, "parts"_a, "carrier"_a);
  m.def("thread_parts", &thread_parts, "parts"_a, "Parts of a table in threads of this process.");
}

}  // namespace frugal
