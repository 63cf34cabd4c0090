// The plugin: the table of engine/cuda/table.h over a device. Compiled by nvcc for a GPU, and by any other compiler as
// an emulator.
#ifdef __CUDACC__
#include "cuda_queue.hpp"
#else
#include "emulated_queue.hpp"
#endif

namespace frugal::device {
namespace {

thread_local std::string last_message;

// No exception leaves the library.
template <class Call>
int guarded(const Call& call) {
  try {
    call();
    return FRUGAL_OK;
  } catch (const NoMemory& error) {
    last_message = error.what();
    return FRUGAL_NO_MEMORY;
  } catch (const std::bad_alloc&) {
    last_message = "out of memory";
    return FRUGAL_NO_MEMORY;
  } catch (const std::exception& error) {
    last_message = error.what();
    return FRUGAL_FAILED;
  }
}

Queue& queue_of(void* queue) {
  return *static_cast<Queue*>(queue);
}

const char* message() {
  return last_message.c_str();
}
int count(std::int32_t* devices) {
  return guarded([&] { *devices = Queue::count(); });
}
int describe(std::int32_t device, FrugalDeviceFacts* facts) {
  return guarded([&] { *facts = Queue::facts(device); });
}
int open(std::int32_t device, void** queue) {
  return guarded([&] { *queue = new Queue(device); });
}
void close(void* queue) {
  delete static_cast<Queue*>(queue);
}
int allocate(void* queue, size_t bytes, void** memory) {
  return guarded([&] { *memory = queue_of(queue).allocate(bytes); });
}
void release(void* queue, void* memory) {
  guarded([&] { queue_of(queue).release(memory); });
}
int upload(void* queue, void* to, const void* from, size_t bytes) {
  return guarded([&] { queue_of(queue).upload(to, from, bytes); });
}
int download(void* queue, void* to, const void* from, size_t bytes) {
  return guarded([&] { queue_of(queue).download(to, from, bytes); });
}
int zero(void* queue, void* memory, size_t bytes) {
  return guarded([&] { queue_of(queue).zero(memory, bytes); });
}
int copy(void* queue, void* to, const void* from, size_t bytes) {
  return guarded([&] { queue_of(queue).copy(to, from, bytes); });
}
int launch(void* queue, std::int32_t kernel, std::uint32_t blocks, const void* arguments, size_t bytes) {
  return guarded([&] {
    if (blocks == 0) return;
    with_kernel(kernel, arguments, bytes,
                [&](const char* name, const auto& own) { queue_of(queue).launch(name, own, blocks); });
  });
}
int wait(void* queue) {
  return guarded([&] { queue_of(queue).wait(); });
}

const FrugalDeviceTable table{FRUGAL_DEVICE_VERSION,
                              sizeof(FrugalDeviceTable),
                              message,
                              count,
                              describe,
                              open,
                              close,
                              allocate,
                              release,
                              upload,
                              download,
                              zero,
                              copy,
                              launch,
                              wait};

}  // namespace
}  // namespace frugal::device

extern "C" __attribute__((visibility("default"))) const FrugalDeviceTable* frugalboost_device_table() {
  return &frugal::device::table;
}
