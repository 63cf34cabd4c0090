// Gradients and weights in the order of the nodes' rows, gathered once per level for all searches.
#pragma once

#include <vector>

#include "engine/cpu/gradients.hpp"
#include "engine/cpu/histogram.hpp"
#include "engine/cpu/partition.hpp"

namespace frugal {

class OrderedRows {
 public:
  explicit OrderedRows(const Weights& weights) : weights_(weights) {}

  // Drops what was gathered for the previous level.
  void begin_level(const RowPartition& partition, AllGradients gradients);
  NodeRows of(const OpenNode& node, Context& context);
  // The exact sum of weight * q over the node's rows in this part of the table.
  std::int64_t gradient(const OpenNode& node, Context& context);
  // The exact sum of weight * q^2 over the same rows.
  Int128 squares(const OpenNode& node, Context& context);

 private:
  const Weights& weights_;
  const RowPartition* partition_ = nullptr;
  AllGradients gradients_;
  struct Ordered {
    std::vector<std::pair<Row, Row>> known;  // ranges of the row partition that are gathered
    std::vector<std::int32_t> q;
    std::vector<std::int64_t> units;
  };
  std::vector<Ordered> ordered_;  // by output
};

}  // namespace frugal
