// The only place that knows about OpenMP, about forks, and about a user who presses Ctrl-C.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <stdexcept>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "support/limits.hpp"
#include "support/together.hpp"
#include "support/types.hpp"

namespace frugal {

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// How many threads a fit may use when `requested` were asked for (0: all). One after a fork: the OpenMP runtime of GCC
// hangs in a child whose parent, or any library in it, had started threads. The model is the same.
int usable_threads(int requested);

// What every stage needs to run: how many threads, whether the user still wants the result, and who else has rows.
class Context {
 public:
  // `should_stop` is called on the calling thread only, about twenty times a second.
  Context(int threads, std::function<bool()> should_stop, Together& together = alone())
      : threads_(usable_threads(threads)), should_stop_(std::move(should_stop)), together_(together) {}

  int threads() const { return threads_; }
  Together& together() const { return together_; }

  void poll() {
    auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    if (should_stop_ && should_stop_()) stopped_ = true;
  }

  // Calls body(task, thread) for every task. `work` is a rough count of basic steps: little work is not
  // worth waking threads for.
  template <class Body>
  void parallel_for(size_t tasks, double work, const Body& body) {
    int threads = tasks < 2 || work < kWorthThreads ? 1 : threads_;
    if (threads > 1 && static_cast<size_t>(threads) > tasks) threads = static_cast<int>(tasks);
    if (threads == 1) {
      for (size_t i = 0; i < tasks; ++i) {
        poll();
        if (stopped_) throw Interrupted();
        body(i, 0);
      }
      return;
    }
    run_in_threads(tasks, threads, body);
  }

  // body(begin, end, block) over rows cut into fixed blocks, the same for any number of threads.
  template <class Body>
  void over_blocks(size_t rows, size_t block, double work_per_row, const Body& body) {
    size_t blocks = (rows + block - 1) / block;
    parallel_for(blocks, work_per_row * static_cast<double>(rows),
                 [&](size_t b, int) { body(b * block, std::min(rows, (b + 1) * block), b); });
  }

 private:
  // Tasks of one thread, next to each other: so are the rows they go through, and two threads that take turns at them
  // would fetch each other's rows ahead. Who is done takes what others have left.
  struct alignas(64) Tasks {
    std::atomic<size_t> next{0};
    size_t end = 0;
  };

  // An exception must not leave a parallel region, or it ends the process: the first one is carried out by hand.
  template <class Body>
  void run_in_threads(size_t tasks, int threads, const Body& body) {
#ifdef _OPENMP
    const auto shares = static_cast<size_t>(threads);
    std::vector<Tasks> share(shares);
    for (size_t t = 0; t < shares; ++t) {
      share[t].next = tasks * t / shares;
      share[t].end = tasks * (t + 1) / shares;
    }
    std::exception_ptr failure;
    std::atomic<bool> failed{false};
#pragma omp parallel num_threads(threads)
    {
      const int thread = omp_get_thread_num();
      for (size_t k = 0; k < shares; ++k) {
        Tasks& mine = share[(static_cast<size_t>(thread) + k) % shares];
        while (!stopped_ && !failed) {
          const size_t task = mine.next.fetch_add(1, std::memory_order_relaxed);
          if (task >= mine.end) break;
          if (thread == 0) poll();
          try {
            body(task, thread);
          } catch (...) {
            if (!failed.exchange(true)) failure = std::current_exception();
          }
        }
      }
    }
    if (failed) std::rethrow_exception(failure);
#endif
    if (stopped_) throw Interrupted();
  }

  int threads_;
  std::function<bool()> should_stop_;
  Together& together_;
  std::atomic<bool> stopped_{false};
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace frugal
