// The only place that knows about OpenMP, about forks, and about a user who presses Ctrl-C.
#pragma once

#include <algorithm>
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

// How many threads a fit may use if the user asks for `requested` (0: all). After a fork only one: the OpenMP runtime
// of GCC hangs in a child process if the parent, or any library in it, had started threads. The model is the same.
size_t usable_threads(int requested);

// What every stage needs to run: the number of threads, whether the user has pressed Ctrl-C, and the other parts of the
// table.
class Context {
 public:
  // `should_stop` is called on the calling thread only, about twenty times a second.
  Context(int threads, std::function<bool()> should_stop, Together& together = alone())
      : threads_(usable_threads(threads)), should_stop_(std::move(should_stop)), together_(together) {}

  size_t threads() const { return threads_; }
  Together& together() const { return together_; }

  void poll() {
    auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    if (should_stop_ && should_stop_()) stopped_ = true;
  }

  // Calls body(task, thread) for every task. `work` is a rough count of basic steps: for little work no threads are
  // woken.
  template <class Body>
  void parallel_for(size_t tasks, double work, const Body& body) {
    const size_t threads = tasks < 2 || work < kWorthThreads ? 1 : std::min(threads_, tasks);
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

  // Calls body(begin, end, block) for blocks of rows, which are the same for any number of threads.
  template <class Body>
  void over_blocks(size_t rows, size_t block, double work_per_row, const Body& body) {
    size_t blocks = (rows + block - 1) / block;
    parallel_for(blocks, work_per_row * real(rows),
                 [&](size_t b, size_t) { body(b * block, std::min(rows, (b + 1) * block), b); });
  }

 private:
  // Each thread starts with a contiguous range of tasks, because neighbouring tasks read neighbouring rows, and two
  // threads that alternate would prefetch each other's rows. A thread that is done takes tasks from the others.
  struct alignas(64) Tasks {
    std::atomic<size_t> next{0};
    size_t end = 0;
  };

  // An exception that leaves a parallel region would end the process, so the first one is caught and rethrown after it.
  template <class Body>
  void run_in_threads(size_t tasks, size_t threads, const Body& body) {
#ifdef _OPENMP
    std::vector<Tasks> share(threads);
    for (size_t t = 0; t < threads; ++t) {
      share[t].next = tasks * t / threads;
      share[t].end = tasks * (t + 1) / threads;
    }
    std::exception_ptr failure;
    std::atomic<bool> failed{false};
#pragma omp parallel num_threads(narrow<int>(threads))
    {
      const size_t thread = index(omp_get_thread_num());
      for (size_t k = 0; k < threads; ++k) {
        Tasks& mine = share[(thread + k) % threads];
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

  size_t threads_;
  std::function<bool()> should_stop_;
  Together& together_;
  std::atomic<bool> stopped_{false};
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace frugal
