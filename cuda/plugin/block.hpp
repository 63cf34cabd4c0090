// A block of threads. Kernel bodies are written in phases: `block.each([&](int thread) {...})` is done by every thread,
// and all are done with it before the next phase begins. What a thread keeps from phase to phase is in a PerThread; all
// else that changes is in the block's shared memory. So the same source runs on a device, and, one thread after
// another, on a processor, for tests.
#pragma once

#include <cstdint>

#include "support/types.hpp"

#ifdef __CUDACC__
#define FRUGAL_DEVICE __device__ __forceinline__
#else
#define FRUGAL_DEVICE inline
#endif

namespace frugal::device {

#ifdef __CUDACC__

template <int Threads>
class Block {
 public:
  static constexpr int kThreads = Threads;

  template <class T>
  struct PerThread {
    T own;
    FRUGAL_DEVICE explicit PerThread(T value = T{}) : own(value) {}
    FRUGAL_DEVICE T& operator[](int) { return own; }
  };

  FRUGAL_DEVICE std::uint32_t number() const { return blockIdx.x; }
  FRUGAL_DEVICE std::uint32_t count() const { return gridDim.x; }

  template <class Body>
  FRUGAL_DEVICE void each(const Body& body) {
    body(static_cast<int>(threadIdx.x));
    __syncthreads();
  }

  // One value from those of all threads; all threads get it.
  template <class Join>
  FRUGAL_DEVICE std::int64_t all(PerThread<std::int64_t>& values, const Join& join) {
    __shared__ long long parts[Threads / 32];
    long long v = values.own;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) v = join(v, __shfl_xor_sync(0xffffffffu, v, step));
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = parts[0];
#pragma unroll
    for (int p = 1; p < Threads / 32; ++p) v = join(v, parts[p]);
    __syncthreads();
    return v;
  }
  FRUGAL_DEVICE std::int64_t sum(PerThread<std::int64_t>& values) {
    return all(values, [](long long a, long long b) { return a + b; });
  }
  FRUGAL_DEVICE std::int64_t largest(PerThread<std::int64_t>& values) {
    return all(values, [](long long a, long long b) { return a > b ? a : b; });
  }
  // Replaces each value by the sum of those of the threads up to this one.
  FRUGAL_DEVICE void sums_up_to(PerThread<std::int64_t>& values) {
    __shared__ long long parts[Threads / 32];
    long long v = values.own;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const long long below = __shfl_up_sync(0xffffffffu, v, step);
      if (lane >= step) v += below;
    }
    if (lane == 31) parts[warp] = v;
    __syncthreads();
    for (int p = 0; p < warp; ++p) v += parts[p];
    __syncthreads();
    values.own = v;
  }
};

// Reads what no thread of the kernel writes. The compiler can't know that a pointer is to the device's memory, and not
// to a block's, if it was read from memory itself; so it is told, here and below.
template <class T>
FRUGAL_DEVICE T read(const T* from) {
  return __ldg(from);
}

// In a block's memory.
FRUGAL_DEVICE std::uint32_t atomic_add(std::uint32_t* to, std::uint32_t v) {
  return atomicAdd(to, v);
}
// In the device's memory.
FRUGAL_DEVICE void atomic_add(std::uint64_t* to, std::uint64_t v) {
  asm volatile("red.global.add.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "l"(v) : "memory");
}
FRUGAL_DEVICE std::uint64_t atomic_fetch_add(std::uint64_t* to, std::uint64_t v) {
  std::uint64_t before;
  asm volatile("atom.global.add.u64 %0, [%1], %2;"
               : "=l"(before)
               : "l"(__cvta_generic_to_global(to)), "l"(v)
               : "memory");
  return before;
}
FRUGAL_DEVICE void atomic_largest(std::uint64_t* to, std::uint64_t v) {
  asm volatile("red.global.max.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "l"(v) : "memory");
}

#else

template <int Threads>
class Block {
 public:
  static constexpr int kThreads = Threads;

  template <class T>
  struct PerThread {
    T own[Threads];
    explicit PerThread(T value = T{}) {
      for (T& v : own) v = value;
    }
    T& operator[](int thread) { return own[thread]; }
  };

  Block(std::uint32_t number, std::uint32_t count) : number_(number), count_(count) {}
  std::uint32_t number() const { return number_; }
  std::uint32_t count() const { return count_; }

  // In every second block the last thread is first: no thread may rely on another one in the same phase.
  template <class Body>
  void each(const Body& body) {
    for (int t = 0; t < Threads; ++t) body(number_ % 2 ? Threads - 1 - t : t);
  }
  std::int64_t sum(PerThread<std::int64_t>& values) {
    std::int64_t total = 0;
    for (std::int64_t v : values.own) total += v;
    return total;
  }
  std::int64_t largest(PerThread<std::int64_t>& values) {
    std::int64_t most = values.own[0];
    for (std::int64_t v : values.own) most = v > most ? v : most;
    return most;
  }
  void sums_up_to(PerThread<std::int64_t>& values) {
    for (int t = 1; t < Threads; ++t) values.own[t] += values.own[t - 1];
  }

 private:
  std::uint32_t number_, count_;
};

template <class T>
T read(const T* from) {
  return *from;
}

// The emulator runs one thread.
inline std::uint32_t atomic_add(std::uint32_t* to, std::uint32_t v) {
  const std::uint32_t before = *to;
  *to = before + v;
  return before;
}
inline std::uint64_t atomic_fetch_add(std::uint64_t* to, std::uint64_t v) {
  const std::uint64_t before = *to;
  *to = before + v;
  return before;
}
inline void atomic_add(std::uint64_t* to, std::uint64_t v) {
  *to += v;
}
inline void atomic_largest(std::uint64_t* to, std::uint64_t v) {
  if (v > *to) *to = v;
}

#endif

}  // namespace frugal::device
