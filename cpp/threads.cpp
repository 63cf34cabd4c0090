#include "threads.hpp"

#include <pthread.h>

#include <algorithm>

namespace frugal {
namespace {

std::atomic<bool> forked{false};

// Registered once, when the library is loaded.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { forked = true; });

}  // namespace

int usable_threads(int requested) {
#ifdef _OPENMP
  if (forked) return 1;
  return std::max(1, requested > 0 ? requested : omp_get_max_threads());
#else
  (void)requested;
  return 1;
#endif
}

}  // namespace frugal
