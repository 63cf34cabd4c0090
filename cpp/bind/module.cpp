// The module that Python imports. Each noun is bound in a file of its own; none of them contains an algorithm.
#include "bind/python.hpp"
#include "support/kernels.hpp"

NB_MODULE(_core, m) {
  using namespace frugal;
  m.doc() = "The compiled core of frugalboost.";
  nb::set_leak_warnings(false);  // a traceback that lives until exit would be reported as a leak
  bind_parts(m);
  bind_tables(m);
  bind_prices(m);
  bind_engine(m);
  bind_boosting(m);
  bind_predict(m);
  m.def("usable_threads", &usable_threads, "requested"_a, "Threads a fit may use; 0 asks for all.");
  m.def("instruction_set", [] { return std::string(kernels().name); }, "Which copy of the kernels runs here.");
}
