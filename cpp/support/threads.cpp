#include "support/threads.hpp"

#include <pthread.h>

#include <algorithm>

namespace frugal {
namespace {

std::atomic<bool> forked{false};

// Registered once, when the library is loaded.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { forked = true; });

}  // namespace

size_t usable_threads(int requested) {
#ifdef _OPENMP
  if (forked) return 1;
  // The OpenMP runtime ends the process if it can't start a thread, so absurdly large numbers are reduced.
  const int most = std::max(256, omp_get_num_procs());
  return index(std::clamp(requested > 0 ? requested : omp_get_max_threads(), 1, most));
#else
  (void)requested;
  return 1;
#endif
}

}  // namespace frugal
