// A device behind the table of a plugin (table.h): loading, memory, launches.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/cuda/arguments.hpp"
#include "engine/cuda/table.h"

namespace frugal::device {

// Messages are sentences for the user.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct OutOfDeviceMemory : DeviceError {
  using DeviceError::DeviceError;
};

// A plugin that is loaded, and one of its devices. It stays loaded until the process ends.
class Device {
 public:
  Device(const std::string& library, int number);

  const FrugalDeviceTable& table() const { return *table_; }
  int number() const { return number_; }
  FrugalDeviceFacts facts() const;
  // Throws if the process is a fork of one that has used the device, which then does not work.
  void check_process() const;

 private:
  const FrugalDeviceTable* table_ = nullptr;
  int number_;
};

// Work for a device, done in order. Frees all memory at its end.
class Queue {
 public:
  explicit Queue(std::shared_ptr<const Device> device);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  size_t multiprocessors() const { return multiprocessors_; }

  void* allocate(size_t bytes);
  void release(void* memory) noexcept;
  void upload(void* to, const void* from, size_t bytes) { check(table().upload(queue_, to, from, bytes)); }
  void download(void* to, const void* from, size_t bytes) { check(table().download(queue_, to, from, bytes)); }
  void copy(void* to, const void* from, size_t bytes) { check(table().copy(queue_, to, from, bytes)); }
  void zero(void* memory, size_t bytes) { check(table().zero(queue_, memory, bytes)); }

  template <class Arguments>
  void launch(const Arguments& arguments, size_t blocks) {
    start(NumberOf<Arguments>::value, blocks, &arguments, sizeof arguments);
  }
  // As many blocks as keep the device busy, if every thread takes several of the items.
  template <class Arguments>
  void launch_over(const Arguments& arguments, size_t items) {
    const size_t most = 8 * multiprocessors_, needed = (items + Arguments::kThreads - 1) / Arguments::kThreads;
    launch(arguments, std::max<size_t>(1, std::min(most, needed)));
  }

 private:
  const FrugalDeviceTable& table() const { return device_->table(); }
  void start(Kernel kernel, size_t blocks, const void* arguments, size_t bytes);
  void check(int result) const;

  std::shared_ptr<const Device> device_;
  void* queue_ = nullptr;
  size_t multiprocessors_;
};

// Memory of a device.
template <class T>
class Buffer {
 public:
  explicit Buffer(Queue& queue) : queue_(&queue) {}
  Buffer(Queue& queue, size_t size) : queue_(&queue) { make(size); }
  ~Buffer() {
    if (data_) queue_->release(data_);
  }
  Buffer(Buffer&& from) noexcept : queue_(from.queue_), data_(from.data_), size_(from.size_) {
    from.data_ = nullptr;
    from.size_ = 0;
  }
  Buffer& operator=(Buffer&& from) noexcept {
    std::swap(queue_, from.queue_);
    std::swap(data_, from.data_);
    std::swap(size_, from.size_);
    return *this;
  }

  T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // At least this size; old contents are lost.
  void make(size_t size) {
    if (size <= size_ && data_) return;
    if (data_) queue_->release(data_);
    data_ = nullptr;
    size_ = 0;
    data_ = static_cast<T*>(queue_->allocate(std::max<size_t>(1, size) * sizeof(T)));
    size_ = size;
  }
  T* zeros(size_t size) {
    make(size);
    if (size > 0) queue_->zero(data_, size * sizeof(T));
    return data_;
  }
  const T* set(std::span<const T> values) {
    if (values.size() > size_ || !data_) make(values.size() + values.size() / 2);
    if (!values.empty()) queue_->upload(data_, values.data(), values.size() * sizeof(T));
    return data_;
  }
  std::vector<T> get(size_t size) const {
    std::vector<T> out(size);
    if (size > 0) queue_->download(out.data(), data_, size * sizeof(T));
    return out;
  }

 private:
  Queue* queue_;
  T* data_ = nullptr;
  size_t size_ = 0;
};

// Arguments of kernels and room for their results in one piece of memory: they go in one upload, and come back in one
// download. Every small copy takes microseconds.
class Parcel {
 public:
  explicit Parcel(Queue& queue) : queue_(queue), memory_(queue) {}

  // `bytes`: at least what will be added.
  void begin(size_t bytes) {
    content_.clear();
    memory_.make(bytes + kParts * kAlignment);
  }
  template <class T>
  const T* add(std::span<const T> values) {
    return reinterpret_cast<const T*>(put(values.data(), values.size_bytes()));
  }
  Word* zeros(size_t words) { return reinterpret_cast<Word*>(put(nullptr, words * sizeof(Word))); }
  // Changes what was added before `send`.
  template <class T>
  T* here(const T* there) {
    return reinterpret_cast<T*>(content_.data() + (reinterpret_cast<const std::uint8_t*>(there) - memory_.data()));
  }
  void send() {
    if (!content_.empty()) queue_.upload(memory_.data(), content_.data(), content_.size());
  }

 private:
  static constexpr size_t kAlignment = 64, kParts = 16;
  std::uint8_t* put(const void* from, size_t bytes);

  Queue& queue_;
  Buffer<std::uint8_t> memory_;
  std::vector<std::uint8_t> content_;
};

inline NumberGrid on_device(const Grid& grid) {
  return {grid.shift(), grid.plain(), grid.scale()};
}

std::vector<Word> words_from(Queue& queue, const Word* from, size_t count);

// A number of 128 bits from its three words.
inline Int128 wide(const Word* words) {
  return Int128{low_bits<std::int64_t>(words[2])} * (Int128{1} << 64) + (Int128{words[1]} << 32) + words[0];
}

// The rows of all lists in tasks of at most `most` rows.
std::vector<Task> cut(std::span<const RowList> lists, size_t most);

}  // namespace frugal::device
