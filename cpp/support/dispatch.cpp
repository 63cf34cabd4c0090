// Picks the copy of kernels.cpp that this processor can run.
#include <cstdlib>
#include <cstring>

#include "support/kernels.hpp"

namespace frugal {

namespace baseline {
extern const Kernels table;
}
#ifdef FRUGAL_X86
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
#endif

namespace {

const Kernels& choose() {
#ifdef FRUGAL_X86
  // FRUGALBOOST_ISA asks for an older set than the processor has, to test that all give the same bits.
  const char* asked = std::getenv("FRUGALBOOST_ISA");
  bool any = asked == nullptr;
  bool has_avx2 = __builtin_cpu_supports("avx2");
  bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  if (has_avx512 && (any || std::strcmp(asked, "avx512") == 0)) return avx512::table;
  if (has_avx2 && (any || std::strcmp(asked, "avx2") == 0)) return avx2::table;
#endif
  return baseline::table;
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace frugal
