// Screening by a sample of rows on the device, with the bounds of engine/cpu/sampling.hpp. A node's whole sample is
// looked at once: the order of its rows says nothing here.
#pragma once

#include "engine/cpu/sampling.hpp"
#include "engine/cuda/device_search.hpp"

namespace frugal::device {

class DeviceSample {
 public:
  // `chosen`: rows of the table.
  DeviceSample(Queue& queue, const DeviceColumns& columns, const TableFacts& table, std::vector<Row> chosen);

  void begin_trees(const std::vector<DeviceGradients>& trees);
  // Splits a level; the rules must live until `finish`.
  void start(std::span<const SplitRule> splits);
  void finish();
  // `nodes`: of the level; `trees`: of the whole table.
  void rule_out(std::span<ScreeningQuery> queries, std::span<const OpenNode> nodes,
                const std::vector<DeviceGradients>& trees);

 private:
  Queue& queue_;
  TableFacts facts_;
  Weights weights_;
  SampleBounds bounds_;
  Buffer<Row> rows_;
  size_t count_;
  TiledColumns columns_;
  DevicePartition partition_;
  DeviceSearch search_;
  Buffer<std::int32_t> q_;
  Buffer<Word> sums_;
  std::vector<DeviceGradients> trees_;
  Level level_;
  std::vector<DevicePartition::NodeSplit> splits_;
};

}  // namespace frugal::device
