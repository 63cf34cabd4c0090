// The rows of every node of the trees of an iteration, on the device. As on a processor (engine/cpu/partition.hpp) each
// tree has two lists between which rows move, here with their gradients; a root's rows are in a list of their own, or
// are all rows.
#pragma once

#include <functional>

#include "engine/cpu/node.hpp"
#include "engine/cuda/device_columns.hpp"
#include "engine/cuda/device_predictions.hpp"

namespace frugal::device {

class DevicePartition {
 public:
  static constexpr size_t kRoot = 2;  // the number of that list

  DevicePartition(Queue& queue, size_t rows) : queue_(queue), rows_(rows), drawn_(queue), parcel_(queue) {}

  // Every tree begins with the drawn rows. Returns the sums of each root over these.
  std::vector<NodeSums> reset(const std::vector<DeviceGradients>& trees, const RowDraw& draw, const Weights& weights,
                              const std::int64_t* units);
  bool all_drawn() const { return draw_.all(); }
  RowList drawn() const { return root_; }
  RowList others() const { return others_; }  // rows that are not drawn
  RowList rows_of(const OpenNode& node) const;

  struct NodeSplit {
    const SplitRule* rule;
    OpenNode node;
    OpenNode left{}, right{};
  };
  // `bins(column)`: where its bins are.
  using BinsOf = std::function<Bins(size_t column)>;
  void start(std::span<const NodeSplit> splits, const BinsOf& bins, const std::int64_t* units);
  // Waits, and fills in the children.
  void finish(std::span<NodeSplit> splits);

 private:
  struct Lists {
    Buffer<Row> rows[2];
    Buffer<std::int32_t> q[2];
  };
  void make_lists();
  void run(std::span<const SplitJob> jobs, const std::int64_t* units);
  std::vector<NodeSums> left_sums(size_t jobs);

  Queue& queue_;
  size_t rows_;
  RowDraw draw_;
  std::vector<DeviceGradients> trees_;
  RowList root_, others_;
  Buffer<Row> drawn_;
  std::vector<Lists> lists_;  // by tree; empty until the first split
  Parcel parcel_;
  const Word* sums_ = nullptr;  // of the last jobs
};

// The bins that go left, as bits.
void bits_of(const SplitRule& rule, Word* bits);

}  // namespace frugal::device
