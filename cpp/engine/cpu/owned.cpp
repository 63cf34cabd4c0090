#include "engine/cpu/owned.hpp"

namespace frugal {
namespace {

constexpr size_t kBlock = 16384;

}  // namespace

void OwnedColumns::flatten(size_t column, Context& context) {
  if (flat_place_[column] >= 0) return;
  flat_memory_.push_back(std::make_unique_for_overwrite<std::uint8_t[]>(X_.rows()));
  std::uint8_t* out = flat_memory_.back().get();
  context.over_blocks(X_.rows(), kBlock, 1.0,
                      [&](size_t begin, size_t end, size_t) { X_.copy(column, begin, end, out + begin, 1); });
  flat_place_[column] = static_cast<std::int32_t>(flats_.places());
  flats_.columns.push_back(column);
  flats_.groups.push_back(out);
}

void OwnedColumns::add(size_t column, Context& context) {
  flatten(column, context);
  const size_t lane = lanes_.places() % kLanes;
  if (lane == 0) {
    memory_.push_back(std::make_unique<std::uint8_t[]>(kLanes * X_.rows()));
    lanes_.groups.push_back(memory_.back().get());
  }
  std::uint8_t* out = memory_.back().get() + lane;
  const std::uint8_t* from = flats_.groups[static_cast<size_t>(flat_place_[column])];
  context.over_blocks(X_.rows(), kBlock, 1.0, [&](size_t begin, size_t end, size_t) {
    for (size_t r = begin; r < end; ++r) out[r * kLanes] = from[r];
  });
  lanes_.columns.push_back(column);
}

}  // namespace frugal
