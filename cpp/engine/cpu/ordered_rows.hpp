// The rows of the nodes of one level with their gradients in the same order, brought together once however many
// searches ask.
#pragma once

#include <vector>

#include "engine/cpu/gradients.hpp"
#include "engine/cpu/histogram.hpp"
#include "engine/cpu/partition.hpp"

namespace frugal {

class OrderedRows {
 public:
  explicit OrderedRows(const Weights& weights) : weights_(weights) {}

  // Forgets the level before.
  void begin_level(const RowPartition& partition, AllGradients gradients);
  NodeRows of(const OpenNode& node, Context& context);
  // Sum of weight * q over the rows here, exact.
  std::int64_t gradient(const OpenNode& node, Context& context);
  // Sum of weight * q^2 over the rows here, exact.
  Wide squares(const OpenNode& node, Context& context);

 private:
  const Weights& weights_;
  const RowPartition* partition_ = nullptr;
  AllGradients gradients_;
  struct Ordered {
    std::vector<std::pair<Row, Row>> known;  // stretches of rows that are in order
    std::vector<std::int32_t> q;
    std::vector<std::int64_t> units;
  };
  std::vector<Ordered> ordered_;  // by output
};

}  // namespace frugal
