// Best splits of columns, from histograms on the device.
#pragma once

#include "engine/cuda/device_partition.hpp"

namespace frugal::device {

// What a search looks at: the nodes of a level with their rows and gradients.
struct SearchedLevel {
  const Level& level;
  const DevicePartition& partition;
  const std::vector<DeviceGradients>& trees;
};

// The search of one table: work that all pools share.
class DeviceSearch {
 public:
  DeviceSearch(Queue& queue, const TableFacts& table, const Weights& weights, const std::int64_t* units,
               double min_weight);

  // A tile of columns at a node. Columns that are wanted are bits.
  struct TilePiece {
    const OpenNode* node;
    const TiledColumns* columns;
    size_t tile;
    std::uint32_t wanted;
    ColumnSplit* splits;  // of the tile's first column
  };
  void search(std::span<const TilePiece> pieces, const SearchedLevel& at);

  HistogramJob job_of(const TiledColumns& columns, size_t tile, std::uint32_t wanted, const RowList& rows,
                      std::int64_t* cells) const;
  // Histograms, and then the scans of them. `out`: for each scan where its splits go.
  void run(std::span<const HistogramJob> jobs, std::span<ScanJob> scans, size_t columns,
           std::span<ColumnSplit* const> out);
  void build(std::span<const HistogramJob> jobs) { run(jobs, {}, 0, {}); }
  ScanJob scan_of(const OpenNode& node, const SearchedLevel& at) const;
  std::int64_t* scratch(size_t tiles);  // zeros

  Queue& queue() { return queue_; }
  const TableFacts& table() const { return table_; }

 private:
  Queue& queue_;
  const TableFacts& table_;
  const Weights& weights_;
  const std::int64_t* units_;
  double min_weight_;
  std::vector<Task> tasks_of(std::span<const HistogramJob> jobs) const;

  Parcel parcel_;
  Buffer<FoundSplit> found_;
  Buffer<std::int64_t> scratch_;
};

// All columns of a pool at the nodes of a level; histograms are kept for the next one.
class DevicePool {
 public:
  DevicePool(DeviceSearch& search, const TiledColumns& columns) : search_(search), columns_(columns) {}

  const TiledColumns& columns() const { return columns_; }
  void forget();  // the columns have changed
  void begin_trees() { kept_.clear(); }
  void begin_level(const Level& level);
  void search(const SearchedLevel& at, std::span<const std::uint8_t> wanted, bool deeper,
              std::span<ColumnSplit> splits);

 private:
  // Histograms are numbers of slots, or kNone.
  struct Task {
    const Siblings* pair;
    bool small_wanted, large_wanted, subtract;
    size_t small = kNone, large = kNone;
  };
  size_t words() const { return columns_.tiles() * kTileWords; }
  size_t most_slots() const;
  size_t take();
  bool take_for(Task& task, bool deeper);
  size_t kept_of_parent(const Siblings& pair) const {
    return pair.parent < kept_before_.size() ? kept_before_[pair.parent] : kNone;
  }
  void run(std::span<const Task> tasks, const SearchedLevel& at, std::span<ColumnSplit> splits);
  void release(std::span<const Task> tasks);

  DeviceSearch& search_;
  const TiledColumns& columns_;
  std::vector<Buffer<std::int64_t>> slots_;
  size_t slot_words_ = 0;
  std::vector<std::uint8_t> taken_;
  std::vector<size_t> kept_, kept_before_;  // of each node of this level and of the one above
};

}  // namespace frugal::device
