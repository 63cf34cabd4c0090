// The bins of a table on the device: all columns in tiles, copies of some of them in tiles of their own, and single
// columns.
#pragma once

#include <map>

#include "data/binning.hpp"
#include "engine/cuda/device.hpp"
#include "engine/engine.hpp"

namespace frugal::device {

// The bins of a column, `step` bytes apart.
struct Bins {
  const std::uint8_t* first = nullptr;
  std::uint32_t step = 0;
};

// Columns in tiles of 32.
class TiledColumns {
 public:
  TiledColumns(Queue& queue, size_t rows) : queue_(queue), rows_(rows), facts_(queue) {}

  const std::vector<size_t>& columns() const { return columns_; }
  size_t tiles() const { return (columns_.size() + kTile - 1) / kTile; }
  std::uint32_t width(size_t tile) const { return widths_[tile]; }
  const std::uint8_t* bins(size_t tile) const { return tiles_[tile].data(); }
  Bins bins_of(size_t place) const { return {bins(place / kTile) + place % kTile, width(place / kTile)}; }
  const Column* facts() const { return facts_.data(); }
  const ColumnFacts& facts_of(size_t place, const TableFacts& table) const { return table.columns[columns_[place]]; }

  // Replaces the columns from `first` on; those before stay as they are. `source(place)`: where a column's bins are.
  // `chosen`: which of their rows; nullptr: all.
  template <class Source>
  void set(std::span<const size_t> columns, size_t first, const TableFacts& table, const Source& source,
           const Row* chosen = nullptr);
  void tell(const TableFacts& table);  // again, since trends are known

 private:
  void resize(size_t tile, size_t columns);

  Queue& queue_;
  size_t rows_;
  std::vector<size_t> columns_;
  std::vector<Buffer<std::uint8_t>> tiles_;
  std::vector<std::uint32_t> widths_;
  Buffer<Column> facts_;
};

template <class Source>
void TiledColumns::set(std::span<const size_t> columns, size_t first, const TableFacts& table, const Source& source,
                       const Row* chosen) {
  columns_.assign(columns.begin(), columns.end());
  for (size_t tile = first / kTile; tile < tiles(); ++tile) {
    const size_t begin = tile * kTile, count = std::min<size_t>(columns.size() - begin, kTile);
    resize(tile, count);
    Pack pack{tiles_[tile].data(), widths_[tile], rows_, chosen, {}, {}};
    for (size_t lane = 0; lane < count; ++lane) {
      const Bins from = source(begin + lane);
      pack.from[lane] = from.first;
      pack.step[lane] = from.step;
    }
    queue_.launch_over(pack, rows_ * widths_[tile]);
  }
  tell(table);
}

// All columns of a matrix, and what is made of them.
class DeviceColumns {
 public:
  // Lists of sparse columns are written out: the device has all bins.
  DeviceColumns(Queue& queue, const BinnedMatrix& X, const TableFacts& table);

  const TiledColumns& all() const { return all_; }
  Bins bins_of(size_t column) const { return all_.bins_of(table_.columns[column].place); }
  // A copy of a column by itself, made when it is first asked for.
  Bins single(size_t column);
  bool is_single(size_t column) const { return singles_.contains(column); }
  void tell() { all_.tell(table_); }

 private:
  void upload(const BinnedMatrix& X);

  Queue& queue_;
  const TableFacts& table_;
  size_t rows_;
  TiledColumns all_;
  std::map<size_t, Buffer<std::uint8_t>> singles_;
};

// The order of columns on the device: dense ones of the matrix by their places, then the others.
std::vector<size_t> device_order(const BinnedMatrix& X);

// Single columns of rows that are only predicted, uploaded when a tree first splits on them.
class SingleUploads {
 public:
  SingleUploads(Queue& queue, const BinnedMatrix& X) : queue_(queue), X_(X) {}
  Bins of(size_t column);

 private:
  Queue& queue_;
  const BinnedMatrix& X_;
  std::map<size_t, Buffer<std::uint8_t>> columns_;
};

}  // namespace frugal::device
