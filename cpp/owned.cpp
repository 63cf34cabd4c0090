#include "owned.hpp"

namespace frugal {

void OwnedColumns::add(size_t column, Context& context) {
  const size_t lane = lanes_.places() % kLanes;
  if (lane == 0) {
    memory_.push_back(std::make_unique<std::uint8_t[]>(kLanes * X_.rows()));
    lanes_.groups.push_back(memory_.back().get());
  }
  std::uint8_t* out = memory_.back().get() + lane;
  context.over_blocks(X_.rows(), 16384, 2.0, [&](size_t begin, size_t end, size_t) {
    X_.copy(column, begin, end, out + begin * kLanes, kLanes);
  });
  lanes_.columns.push_back(column);
}

}  // namespace frugal
