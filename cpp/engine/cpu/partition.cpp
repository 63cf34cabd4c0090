#include "engine/cpu/partition.hpp"

#include "engine/cpu/kernels.hpp"
#include "support/chunks.hpp"
#include "support/limits.hpp"

namespace frugal {
namespace {

// A stretch of one node's rows: marked first, then, when everybody's place is known, moved.
struct Part {
  Chunk at;
  Row left_rows = 0;
  std::int64_t weight = 0;  // of the left side
  Row left_to = 0, right_to = 0;

  Row rows() const { return at.end - at.begin; }
};

constexpr size_t kPartWords = (kPartitionRows + 63) / 64;

LeftBins left_bins(const ChosenSplit& split) {
  if (split.listed) return {split.goes_left.data(), 0, -1};
  return {nullptr, split.bin, split.missing_left ? split.missing_bin : -1};
}

void mark(Part& part, const ChosenSplit& split, const RowPartition::Bins& bins_of, const Weights& weights,
          const Row* rows, std::uint64_t* bits) {
  std::uint8_t bins[kPartitionRows];
  bins_of(split, {rows, part.rows()}, bins);
  part.left_rows = static_cast<Row>(kernels().left_bits(part.rows(), bins, left_bins(split), bits));
  part.weight = part.left_rows;
  if (weights.uniform()) return;
  part.weight = 0;
  for (size_t i = 0; i < part.rows(); ++i)
    part.weight += weights.units[rows[i]] & -static_cast<std::int64_t>((bits[i / 64] >> (i % 64)) & 1);
}

void place(std::vector<Part>& parts, std::span<ChosenSplit> splits) {
  for (auto& s : splits) s.left = s.right = OpenNode{};
  for (const auto& c : parts) {
    auto& left = splits[c.at.owner].left;
    left.end += c.left_rows;
    left.weight += c.weight;
  }
  std::vector<Row> left_at, right_at;
  for (auto& s : splits) {
    s.left.begin = s.node.begin;
    s.left.end += s.node.begin;
    s.right.begin = s.left.end;
    s.right.end = s.node.end;
    s.right.weight = s.node.weight - s.left.weight;
    s.left.list = s.right.list = 1 - s.node.list;
    s.left.output = s.right.output = s.node.output;
    left_at.push_back(s.left.begin);
    right_at.push_back(s.right.begin);
  }
  for (auto& c : parts) {
    c.left_to = left_at[c.at.owner];
    c.right_to = right_at[c.at.owner];
    left_at[c.at.owner] += c.left_rows;
    right_at[c.at.owner] += c.rows() - c.left_rows;
  }
}

}  // namespace

void RowPartition::reset(Context& context) {
  for (auto& lists : lists_)
    context.over_blocks(lists[0].size(), 65536, 1.0, [&](size_t begin, size_t end, size_t) {
      for (size_t i = begin; i < end; ++i) lists[0][i] = static_cast<Row>(i);
    });
}

void RowPartition::split(std::span<ChosenSplit> splits, const Bins& bins, const Weights& weights, Context& context) {
  std::vector<Part> parts;
  for (const Chunk& chunk : cut(splits, kPartitionRows, [](const ChosenSplit& s) { return s.node; }))
    parts.push_back({chunk});
  bits_.resize(parts.size() * kPartWords);
  double work = 0;
  for (const auto& s : splits) work += 2.0 * s.node.rows();
  auto list = [&](const Part& p, bool other) {
    const OpenNode& node = splits[p.at.owner].node;
    return lists_[static_cast<size_t>(node.output)][static_cast<size_t>(other ? 1 - node.list : node.list)].data();
  };
  auto from = [&](const Part& p) { return list(p, false) + p.at.begin; };
  context.parallel_for(parts.size(), work, [&](size_t i, int) {
    mark(parts[i], splits[parts[i].at.owner], bins, weights, from(parts[i]), bits_.data() + i * kPartWords);
  });
  place(parts, splits);
  context.parallel_for(parts.size(), work, [&](size_t i, int) {
    Row* to = list(parts[i], true);
    kernels().part_rows(parts[i].rows(), from(parts[i]), bits_.data() + i * kPartWords, to + parts[i].left_to,
                        to + parts[i].right_to);
  });
}

}  // namespace frugal
