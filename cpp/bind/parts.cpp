// The parts of a table in Python.
#include <cstring>

#include "bind/python.hpp"

namespace frugal {
namespace {

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
  m.def("thread_parts", &thread_parts, "parts"_a, "Parts of a table in threads of this process.");
}

}  // namespace frugal
