#include "engine/cpu/columns.hpp"

#include <algorithm>

namespace frugal {
namespace {

constexpr size_t kBlock = 16384;

}  // namespace

void PackedColumns::set(std::span<const size_t> columns, Context& context) {
  const size_t groups = (columns.size() + kLanes - 1) / kLanes, n = X_.rows();
  while (memory_.size() < groups) memory_.push_back(std::make_unique<std::uint8_t[]>(kLanes * n));
  lanes_.columns.assign(columns.begin(), columns.end());
  lanes_.groups.clear();
  for (size_t g = 0; g < groups; ++g) lanes_.groups.push_back(memory_[g].get());
  context.parallel_for(groups, real(columns.size() * n), [&](size_t g, size_t) {
    for (size_t p = g * kLanes; p < std::min(columns.size(), (g + 1) * kLanes); ++p)
      X_.copy(columns[p], 0, n, memory_[g].get() + p % kLanes, kLanes);
  });
}

void PackedColumns::add(size_t column, const std::uint8_t* bins, Context& context) {
  const size_t lane = lanes_.places() % kLanes;
  if (lane == 0) {
    memory_.push_back(std::make_unique<std::uint8_t[]>(kLanes * X_.rows()));
    lanes_.groups.push_back(memory_.back().get());
  }
  std::uint8_t* out = memory_.back().get() + lane;
  context.over_blocks(X_.rows(), kBlock, 1.0, [&](size_t begin, size_t end, size_t) {
    for (size_t r = begin; r < end; ++r) out[r * kLanes] = bins[r];
  });
  lanes_.columns.push_back(column);
}

void SingleColumns::add(size_t column, Context& context) {
  if (place_[column] != kNone) return;
  memory_.push_back(std::make_unique_for_overwrite<std::uint8_t[]>(X_.rows()));
  std::uint8_t* out = memory_.back().get();
  context.over_blocks(X_.rows(), kBlock, 1.0,
                      [&](size_t begin, size_t end, size_t) { X_.copy(column, begin, end, out + begin, 1); });
  place_[column] = lanes_.places();
  lanes_.columns.push_back(column);
  lanes_.groups.push_back(out);
}

void SingleColumns::gather(size_t column, std::span<const Row> rows, std::uint8_t* out) const {
  if (place_[column] == kNone) return X_.gather(column, rows, out);
  const std::uint8_t* own = bins(column);
  if (!rows.empty() && rows.back() - rows.front() + 1 == rows.size()) {
    std::copy_n(own + rows.front(), rows.size(), out);
  } else {
    for (size_t i = 0; i < rows.size(); ++i) out[i] = own[rows[i]];
  }
}

}  // namespace frugal
