// A CUDA device, and one stream on it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <set>

#include "profile.hpp"
#include "queue.hpp"

namespace frugal::device {

inline void check(cudaError_t result) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // so that the next call does not report it again
  if (result == cudaErrorMemoryAllocation) throw NoMemory(cudaGetErrorString(result));
  throw Failure(cudaGetErrorString(result));
}

template <class Arguments>
__global__ void __launch_bounds__(Arguments::kThreads) kernel(const Arguments arguments) {
  extern __shared__ __align__(16) unsigned char memory[];
  Block<Arguments::kThreads> block;
  run(arguments, block, *reinterpret_cast<typename MemoryOf<Arguments>::Type*>(memory));
}

class Queue {
 public:
  explicit Queue(std::int32_t device) : device_(device) {
    enter();
#define FRUGAL_ALLOW(name) allow<name>();
    FRUGAL_KERNELS(FRUGAL_ALLOW)
#undef FRUGAL_ALLOW
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    if (const cudaError_t result = cudaMallocHost(&pinned_, kPinned); result != cudaSuccess) {
      cudaStreamDestroy(stream_);
      check(result);
    }
  }
  ~Queue() {
    cudaSetDevice(device_);
    if (stream_) cudaStreamSynchronize(stream_);
    for (void* memory : memory_) cudaFree(memory);
    if (pinned_) cudaFreeHost(pinned_);
    if (stream_) cudaStreamDestroy(stream_);
  }
  Queue(const Queue&) = delete;

  static std::int32_t count() {
    int devices = 0;
    check(cudaGetDeviceCount(&devices));
    return devices;
  }
  static FrugalDeviceFacts facts(std::int32_t device) {
    FrugalDeviceFacts out{};
    cudaDeviceProp properties;
    check(cudaSetDevice(device));
    check(cudaGetDeviceProperties(&properties, device));
    std::strncpy(out.name, properties.name, sizeof out.name - 1);
    size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total));
    out.free_bytes = free;
    out.total_bytes = total;
    out.multiprocessors = properties.multiProcessorCount;
    return out;
  }

  void* allocate(size_t bytes) {
    enter();
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes));
    memory_.insert(memory);
    return memory;
  }
  void release(void* memory) {
    enter();
    check(cudaStreamSynchronize(stream_));
    memory_.erase(memory);
    check(cudaFree(memory));
  }
  // Small pieces go through pinned memory, so that the caller need not wait for the copy.
  void upload(void* to, const void* from, size_t bytes) {
    enter();
    ++profile_.uploads;
    profile_.uploaded += static_cast<double>(bytes);
    if (bytes > kPinned / 4) {
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_));
      return check(cudaStreamSynchronize(stream_));
    }
    const size_t room = (bytes + 63) / 64 * 64;
    if (at_ + room > kPinned) wait();
    std::memcpy(pinned_ + at_, from, bytes);
    check(cudaMemcpyAsync(to, pinned_ + at_, bytes, cudaMemcpyHostToDevice, stream_));
    at_ += room;
  }
  void download(void* to, const void* from, size_t bytes) {
    enter();
    ++profile_.downloads;
    profile_.downloaded += static_cast<double>(bytes);
    if (bytes > kPinned / 4) {
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_));
      return wait();
    }
    const size_t room = (bytes + 63) / 64 * 64;
    if (at_ + room > kPinned) wait();
    unsigned char* here = pinned_ + at_;
    check(cudaMemcpyAsync(here, from, bytes, cudaMemcpyDeviceToHost, stream_));
    wait();
    std::memcpy(to, here, bytes);
  }
  void copy(void* to, const void* from, size_t bytes) {
    enter();
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_));
  }
  void zero(void* memory, size_t bytes) {
    enter();
    ++profile_.zeroings;
    check(cudaMemsetAsync(memory, 0, bytes, stream_));
  }
  void wait() {
    enter();
    check(cudaStreamSynchronize(stream_));
    profile_.settle();
    at_ = 0;
  }

  template <class Arguments>
  void launch(const char* name, const Arguments& arguments, std::uint32_t blocks) {
    enter();
    profile_.around(name, stream_, [&] {
      kernel<Arguments><<<blocks, Arguments::kThreads, bytes_of<Arguments>(), stream_>>>(arguments);
    });
    check(cudaGetLastError());
  }

 private:
  static constexpr size_t kPinned = size_t{4} << 20;

  void enter() const { check(cudaSetDevice(device_)); }
  template <class Arguments>
  static constexpr size_t bytes_of() {
    return sizeof(typename MemoryOf<Arguments>::Type);
  }
  template <class Arguments>
  void allow() const {
    if (bytes_of<Arguments>() <= (size_t{40} << 10)) return;
    int most = 0;
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device_));
    if (static_cast<size_t>(most) < bytes_of<Arguments>())
      throw Failure("its blocks have " + std::to_string(most / 1024) + " KB of shared memory, and " +
                    std::to_string(bytes_of<Arguments>() / 1024) + " KB are needed, as an A100 or H100 has them");
    check(cudaFuncSetAttribute(kernel<Arguments>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes_of<Arguments>())));
  }

  std::int32_t device_;
  cudaStream_t stream_ = nullptr;
  unsigned char* pinned_ = nullptr;
  size_t at_ = 0;
  std::set<void*> memory_;
  Profile profile_;
};

}  // namespace frugal::device
