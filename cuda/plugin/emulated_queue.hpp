// A device that is emulated: its memory is the machine's, and kernels run one thread after another. For tests.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "queue.hpp"

namespace frugal::device {

// FRUGALBOOST_EMULATED_BYTES sets how much memory the device has.
inline size_t emulated_bytes() {
  const char* given = std::getenv("FRUGALBOOST_EMULATED_BYTES");
  return given ? std::strtoull(given, nullptr, 10) : size_t{8} << 30;
}

class Queue {
 public:
  explicit Queue(std::int32_t) {}

  static std::int32_t count() { return 1; }
  static FrugalDeviceFacts facts(std::int32_t) {
    FrugalDeviceFacts out{};
    std::strcpy(out.name, "emulated device");
    out.total_bytes = emulated_bytes();
    const std::lock_guard lock(mutex());
    out.free_bytes = out.total_bytes > used() ? out.total_bytes - used() : 0;
    out.multiprocessors = 2;
    out.emulated = 1;
    return out;
  }
  ~Queue() {
    for (auto& [memory, bytes] : sizes_) count_used(0, bytes);
  }

  void* allocate(size_t bytes) {
    count_used(bytes, 0);
    auto memory = std::make_unique<std::uint8_t[]>(bytes);
    std::memset(memory.get(), 0xA5, bytes);  // a device's memory holds anything
    void* key = memory.get();
    sizes_[key] = bytes;
    memory_[key] = std::move(memory);
    return key;
  }
  void release(void* memory) {
    count_used(0, sizes_.at(memory));
    sizes_.erase(memory);
    memory_.erase(memory);
  }
  void upload(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
  void copy(void* to, const void* from, size_t bytes) { std::memmove(to, from, bytes); }
  void zero(void* memory, size_t bytes) { std::memset(memory, 0, bytes); }
  void wait() {}

  template <class Arguments>
  void launch(const char*, const Arguments& arguments, std::uint32_t blocks) {
    auto memory = std::make_unique<typename MemoryOf<Arguments>::Type>();
    for (std::uint32_t b = 0; b < blocks; ++b) {
      std::memset(static_cast<void*>(memory.get()), 0xA5, sizeof *memory);
      Block<Arguments::kThreads> block(b, blocks);
      run(arguments, block, *memory);
    }
  }

 private:
  static std::mutex& mutex() {
    static std::mutex own;
    return own;
  }
  static size_t& used() {
    static size_t own = 0;
    return own;
  }
  static void count_used(size_t more, size_t less) {
    const std::lock_guard lock(mutex());
    if (used() + more > emulated_bytes() + less) throw NoMemory("out of memory");
    used() += more;
    used() -= less;
  }

  std::map<void*, size_t> sizes_;
  std::map<void*, std::unique_ptr<std::uint8_t[]>> memory_;
};

}  // namespace frugal::device
