#include "partition.hpp"

#include <cstring>

#include "chunks.hpp"
#include "limits.hpp"

namespace frugal {
namespace {

// A stretch of one node's rows, parted on its own; then all stretches are moved to their places.
struct Part {
  Chunk at;
  Row left_rows = 0;
  std::int64_t gradient = 0, weight = 0;  // of the left side
  Row left_to = 0, right_to = 0;
};

// Left rows go to the front of the chunk's place in `out`, right rows behind them. Both sides are written for every
// row and only one moves on: a branch would be guessed wrong half the time.
template <bool Weighted>
void part(Part& chunk, const ChosenSplit& split, const RowPartition::Bins& bins_of, const GridGradients& gradients,
          const Weights& weights, const Row* rows, Row* out) {
  std::uint8_t bins[kPartitionRows];
  bins_of(split, {rows + chunk.at.begin, rows + chunk.at.end}, bins);
  Row right[kPartitionRows];
  Row* left = out + chunk.at.begin;
  Row rights = 0;
  std::int64_t gradient = 0, weight = 0;
  for (Row i = chunk.at.begin; i < chunk.at.end; ++i) {
    const Row row = rows[i];
    const bool goes_left = split.goes_left[bins[i - chunk.at.begin]];
    *left = row;
    right[rights] = row;
    left += goes_left;
    rights += !goes_left;
    const std::int64_t unit = Weighted ? weights.units[row] : 1;
    const std::int64_t taken = unit & -static_cast<std::int64_t>(goes_left);
    gradient += taken * gradients.q[row];
    weight += taken;
  }
  std::memcpy(left, right, rights * sizeof(Row));
  chunk.left_rows = chunk.at.end - chunk.at.begin - rights;
  chunk.gradient = gradient;
  chunk.weight = weight;
}

void place(std::vector<Part>& parts, std::span<ChosenSplit> splits) {
  for (auto& s : splits) s.left = s.right = OpenNode{};
  for (const auto& c : parts) {
    auto& left = splits[c.at.owner].left;
    left.end += c.left_rows;
    left.gradient += c.gradient;
    left.weight += c.weight;
  }
  std::vector<Row> left_at, right_at;
  for (auto& s : splits) {
    s.left.begin = s.node.begin;
    s.left.end += s.node.begin;
    s.right.begin = s.left.end;
    s.right.end = s.node.end;
    s.right.gradient = s.node.gradient - s.left.gradient;
    s.right.weight = s.node.weight - s.left.weight;
    left_at.push_back(s.left.begin);
    right_at.push_back(s.right.begin);
  }
  for (auto& c : parts) {
    c.left_to = left_at[c.at.owner];
    c.right_to = right_at[c.at.owner];
    left_at[c.at.owner] += c.left_rows;
    right_at[c.at.owner] += c.at.end - c.at.begin - c.left_rows;
  }
}

void settle(const Part& c, const Row* parted, Row* rows) {
  const Row* from = parted + c.at.begin;
  std::memcpy(rows + c.left_to, from, c.left_rows * sizeof(Row));
  std::memcpy(rows + c.right_to, from + c.left_rows, (c.at.end - c.at.begin - c.left_rows) * sizeof(Row));
}

}  // namespace

void RowPartition::reset(Context& context) {
  context.over_blocks(rows_.size(), 65536, 1.0, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) rows_[i] = static_cast<Row>(i);
  });
}

void RowPartition::split(std::span<ChosenSplit> splits, const Bins& bins, const GridGradients& gradients,
                         const Weights& weights, Context& context) {
  std::vector<Part> parts;
  for (const Chunk& chunk : cut(splits, kPartitionRows, [](const ChosenSplit& s) { return s.node; }))
    parts.push_back({chunk});
  double work = 0;
  for (const auto& s : splits) work += 3.0 * s.node.rows();
  const auto part_chunk = weights.uniform() ? part<false> : part<true>;
  context.parallel_for(parts.size(), work, [&](size_t i, int) {
    part_chunk(parts[i], splits[parts[i].at.owner], bins, gradients, weights, rows_.data(), moved_.data());
  });
  place(parts, splits);
  context.parallel_for(parts.size(), work, [&](size_t i, int) { settle(parts[i], moved_.data(), rows_.data()); });
}

}  // namespace frugal
