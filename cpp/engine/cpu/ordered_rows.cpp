#include "engine/cpu/ordered_rows.hpp"

#include <algorithm>
#include <numeric>

#include "support/kernels.hpp"

namespace frugal {

void OrderedRows::begin_level(const RowPartition& partition, AllGradients gradients) {
  partition_ = &partition;
  gradients_ = gradients;
  ordered_.resize(gradients.size());
  for (Ordered& o : ordered_) o.known.clear();
}

NodeRows OrderedRows::of(const OpenNode& node, Context& context) {
  const std::vector<std::int32_t>& q = gradients_[node.output].q;
  const size_t all = q.size();
  if (node.rows() == all) return {nullptr, 0, q.data(), weights_.uniform() ? nullptr : weights_.units.data(), all};
  const Row* rows = partition_->rows(node).data();
  Ordered& own = ordered_[node.output];
  const bool known = std::any_of(own.known.begin(), own.known.end(),
                                 [&](const auto& k) { return k.first <= node.begin && node.end <= k.second; });
  if (!known) {
    own.known.emplace_back(node.begin, node.end);
    own.q.resize(all);
    if (!weights_.uniform()) own.units.resize(all);
    context.over_blocks(node.rows(), 16384, 1.0, [&](size_t begin, size_t end, size_t) {
      for (size_t i = begin; i < end; ++i) own.q[node.begin + i] = q[rows[i]];
      if (weights_.uniform()) return;
      for (size_t i = begin; i < end; ++i) own.units[node.begin + i] = weights_.units[rows[i]];
    });
  }
  return {rows, 0, own.q.data() + node.begin, weights_.uniform() ? nullptr : own.units.data() + node.begin,
          node.rows()};
}

std::int64_t OrderedRows::gradient(const OpenNode& node, Context& context) {
  const NodeRows rows = of(node, context);
  constexpr size_t kBlock = 16384;
  std::vector<std::int64_t> sums((rows.count + kBlock - 1) / kBlock);
  context.over_blocks(rows.count, kBlock, 0.5, [&](size_t begin, size_t end, size_t block) {
    if (rows.units == nullptr) {
      sums[block] = kernels().sum(end - begin, rows.q + begin);
    } else {
      for (size_t i = begin; i < end; ++i) sums[block] += rows.units[i] * rows.q[i];
    }
  });
  return std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
}

Int128 OrderedRows::squares(const OpenNode& node, Context& context) {
  const NodeRows rows = of(node, context);
  constexpr size_t kBlock = 1024;  // that many squares of numbers up to 2^26 add up to 2^62 at most
  std::vector<Int128> sums((rows.count + kBlock - 1) / kBlock);
  context.over_blocks(rows.count, kBlock, 1.0, [&](size_t begin, size_t end, size_t block) {
    if (rows.units == nullptr) {
      sums[block] = kernels().sum_of_squares(end - begin, rows.q + begin);
    } else {
      Int128 sum = 0;
      for (size_t i = begin; i < end; ++i) sum += Int128{rows.units[i]} * (std::int64_t{rows.q[i]} * rows.q[i]);
      sums[block] = sum;
    }
  });
  Int128 total = 0;
  for (Int128 s : sums) total += s;
  return total;
}

}  // namespace frugal
