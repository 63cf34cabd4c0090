#include "engine/cuda/device.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace frugal::device {
namespace {

std::atomic<pid_t> first_user{0};  // the process that first used a device

std::string in_gigabytes(double bytes) {
  const auto tenths = truncated<std::int64_t>(bytes / 1e8 + 0.5);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GB";
}

}  // namespace

Device::Device(const std::string& library, int number) : number_(number) {
  void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loaded) throw DeviceError("The GPU plugin could not be loaded: " + std::string(dlerror()) + ".");
  void* symbol = dlsym(loaded, FRUGAL_DEVICE_SYMBOL);
  if (!symbol)
    throw DeviceError("The file " + library + " is no GPU plugin of frugalboost. Reinstall frugalboost-cuda.");
  table_ = reinterpret_cast<FrugalDeviceTableFunction>(symbol)();
  if (table_->version != FRUGAL_DEVICE_VERSION || table_->size != sizeof(FrugalDeviceTable))
    throw DeviceError("The GPU plugin is of version " + std::to_string(table_->version) +
                      ", and this frugalboost needs version " + std::to_string(FRUGAL_DEVICE_VERSION) +
                      ". Install frugalboost and frugalboost-cuda of the same version.");
  check_process();
  std::int32_t devices = 0;
  if (table_->count(&devices) != FRUGAL_OK)
    throw DeviceError("No GPU can be used: " + std::string(table_->message()) +
                      ". Is there an NVIDIA GPU with a driver that is new enough? device=\"cpu\" needs none.");
  if (number < 0 || number >= devices)
    throw DeviceError("There is no GPU" + (devices > 0 ? " of number " + std::to_string(number) : std::string()) +
                      " in this machine. device=\"cpu\" needs none.");
}

FrugalDeviceFacts Device::facts() const {
  check_process();
  FrugalDeviceFacts out{};
  if (table_->describe(number_, &out) != FRUGAL_OK)
    throw DeviceError("The GPU does not answer: " + std::string(table_->message()) + ".");
  return out;
}

void Device::check_process() const {
  pid_t none = 0;
  const pid_t own = getpid();
  if (!first_user.compare_exchange_strong(none, own) && none != own)
    throw DeviceError(
        "This process was forked from one that has used the GPU, where it does not work any more. Start processes with "
        "\"spawn\" instead of \"fork\", or fit with device=\"cpu\" here.");
}

Queue::Queue(std::shared_ptr<const Device> device) : device_(std::move(device)) {
  multiprocessors_ = index(std::max(1, device_->facts().multiprocessors));
  check(table().open(device_->number(), &queue_));
}

Queue::~Queue() {
  if (queue_) table().close(queue_);
}

void* Queue::allocate(size_t bytes) {
  void* memory = nullptr;
  const int result = table().allocate(queue_, bytes, &memory);
  if (result == FRUGAL_NO_MEMORY) {
    const FrugalDeviceFacts facts = device_->facts();
    throw OutOfDeviceMemory("The GPU has no room for the fit: another " + in_gigabytes(real(bytes)) +
                            " are needed, and " + in_gigabytes(real(facts.free_bytes)) + " of its " +
                            in_gigabytes(real(facts.total_bytes)) +
                            " are free. Fit on fewer rows or columns, or with device=\"cpu\".");
  }
  check(result);
  return memory;
}

void Queue::release(void* memory) noexcept {
  table().release(queue_, memory);
}

void Queue::start(Kernel kernel, size_t blocks, const void* arguments, size_t bytes) {
  check(table().launch(queue_, static_cast<std::int32_t>(kernel), narrow<std::uint32_t>(blocks), arguments, bytes));
}

void Queue::check(int result) const {
  if (result == FRUGAL_OK) return;
  const std::string why = table().message();
  if (result == FRUGAL_NO_MEMORY)
    throw OutOfDeviceMemory("The GPU has no room for the fit. Fit on fewer rows or columns, or with device=\"cpu\".");
  throw DeviceError("The GPU failed: " + why + ". If it goes on, fit with device=\"cpu\" and report this.");
}

std::uint8_t* Parcel::put(const void* from, size_t bytes) {
  const size_t at = content_.size(), room = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (at + room > memory_.size()) throw std::logic_error("More was put into a parcel than was said.");
  content_.resize(at + room);
  if (from && bytes > 0) std::memcpy(content_.data() + at, from, bytes);
  return memory_.data() + at;
}

std::vector<Word> words_from(Queue& queue, const Word* from, size_t count) {
  std::vector<Word> out(count);
  if (count > 0) queue.download(out.data(), from, count * sizeof(Word));
  return out;
}

std::vector<Task> cut(std::span<const RowList> lists, size_t most) {
  std::vector<Task> tasks;
  for (size_t l = 0; l < lists.size(); ++l)
    for (size_t begin = 0; begin < lists[l].count; begin += most)
      tasks.push_back({narrow<std::uint32_t>(l), narrow<std::uint32_t>(begin),
                       narrow<std::uint32_t>(std::min<size_t>(lists[l].count, begin + most))});
  return tasks;
}

}  // namespace frugal::device
