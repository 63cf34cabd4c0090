// What a device must offer below the table: memory, copies, launches. `cuda_queue.hpp` and `emulated_queue.hpp` have
// one each.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>

#include "engine/cuda/table.h"
#include "kernels.hpp"

namespace frugal::device {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct NoMemory : Failure {
  using Failure::Failure;
};

// Calls launch(name, arguments) with the record of a kernel's number.
template <class Launch>
void with_kernel(std::int32_t number, const void* arguments, size_t bytes, const Launch& launch) {
  switch (Kernel{number}) {
#define FRUGAL_CASE(name)                                                              \
  case Kernel::name: {                                                                 \
    name own;                                                                          \
    if (bytes != sizeof own) throw Failure("the arguments of a kernel do not fit it"); \
    std::memcpy(&own, arguments, sizeof own);                                          \
    return launch(#name, own);                                                         \
  }
    FRUGAL_KERNELS(FRUGAL_CASE)
#undef FRUGAL_CASE
  }
  throw Failure("there is no such kernel");
}

}  // namespace frugal::device
