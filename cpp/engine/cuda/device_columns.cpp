#include "engine/cuda/device_columns.hpp"

#include <algorithm>
#include <bit>

namespace frugal::device {

void TiledColumns::resize(size_t tile, size_t columns) {
  const auto width = narrow<std::uint32_t>(std::bit_ceil(columns));
  while (tiles_.size() <= tile) {
    tiles_.emplace_back(queue_);
    widths_.push_back(0);
  }
  tiles_[tile].make(rows_ * width);
  widths_[tile] = width;
}

void TiledColumns::tell(const TableFacts& table) {
  std::vector<Column> facts;
  for (size_t c : columns_) {
    const ColumnFacts& column = table.columns[c];
    facts.push_back({column.bins, column.missing, column.categorical, column.trend, {}});
  }
  facts.resize((facts.size() + kTile - 1) / kTile * kTile);
  facts_.set(facts);
}

std::vector<size_t> device_order(const BinnedMatrix& X) {
  std::vector<size_t> order;
  for (size_t p = 0; p < X.dense(); ++p) order.push_back(X.dense_column(p));
  for (size_t s = 0; s < X.sparse(); ++s) order.push_back(X.sparse_column(s));
  return order;
}

DeviceColumns::DeviceColumns(Queue& queue, const BinnedMatrix& X, const TableFacts& table)
    : queue_(queue), table_(table), rows_(X.rows()), all_(queue, X.rows()) {
  upload(X);
}

// A tile comes as four groups of eight columns, as the matrix has them.
void DeviceColumns::upload(const BinnedMatrix& X) {
  const std::vector<size_t> order = device_order(X);
  const Lanes lanes = X.lanes();
  const size_t bytes = kLanes * rows_, in_tile = kTile / kLanes;
  Buffer<std::uint8_t> staging(queue_, in_tile * bytes);
  std::vector<std::uint8_t> group;
  for (size_t first = 0; first < order.size(); first += kTile) {
    const size_t end = std::min<size_t>(order.size(), first + kTile);
    for (size_t g = first / kLanes; g * kLanes < end; ++g) {
      std::uint8_t* to = staging.data() + g % in_tile * bytes;
      if ((g + 1) * kLanes <= X.dense()) {
        queue_.upload(to, lanes.groups[g], bytes);
        continue;
      }
      group.assign(bytes, 0);
      for (size_t p = g * kLanes; p < std::min(end, (g + 1) * kLanes); ++p)
        X.copy(order[p], 0, rows_, group.data() + p % kLanes, kLanes);
      queue_.upload(to, group.data(), bytes);
    }
    all_.set(std::span(order).first(end), first, table_, [&](size_t place) {
      const size_t p = place - first;
      return Bins{staging.data() + p / kLanes * bytes + p % kLanes, narrow<std::uint32_t>(kLanes)};
    });
  }
}

Bins DeviceColumns::single(size_t column) {
  const auto [found, fresh] = singles_.try_emplace(column, queue_);
  if (fresh) {
    found->second.make(rows_);
    const Bins from = bins_of(column);
    Pack pack{found->second.data(), 1, rows_, nullptr, {}, {}};
    pack.from[0] = from.first;
    pack.step[0] = from.step;
    queue_.launch_over(pack, rows_);
  }
  return {found->second.data(), 1};
}

Bins SingleUploads::of(size_t column) {
  const auto [found, fresh] = columns_.try_emplace(column, queue_);
  if (fresh) {
    std::vector<std::uint8_t> bins(X_.rows());
    X_.copy(column, 0, bins.size(), bins.data(), 1);
    found->second.set(bins);
  }
  return {found->second.data(), 1};
}

}  // namespace frugal::device
