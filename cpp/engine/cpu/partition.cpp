#include "engine/cpu/partition.hpp"

#include <algorithm>
#include <numeric>

#include "support/chunks.hpp"
#include "support/kernels.hpp"
#include "support/limits.hpp"

namespace frugal {
namespace {

// A chunk of one node's rows. First the rows that go left are marked; then, when the places of all chunks are known,
// the rows are moved.
struct Part {
  Chunk at;
  Row left_rows = 0;
  std::int64_t weight = 0;  // of the rows that go left
  Row left_to = 0, right_to = 0;

  Row rows() const { return at.end - at.begin; }
};

constexpr size_t kPartWords = (kPartitionRows + 63) / 64;

LeftBins left_bins(const SplitRule& rule) {
  if (rule.listed) return {rule.goes_left.data(), 0, -1};
  return {nullptr, rule.bin, rule.missing_left ? rule.missing_bin : -1};
}

void mark(Part& part, const SplitRule& rule, const RowPartition::Bins& bins_of, const Weights& weights, const Row* rows,
          std::uint64_t* bits) {
  std::uint8_t bins[kPartitionRows];
  bins_of(rule, {rows, part.rows()}, bins);
  part.left_rows = narrow<Row>(kernels().left_bits(part.rows(), bins, left_bins(rule), bits));
  part.weight = part.left_rows;
  if (weights.uniform()) return;
  part.weight = 0;
  for (size_t i = 0; i < part.rows(); ++i)
    part.weight += weights.units[rows[i]] & -narrow<std::int64_t>((bits[i / 64] >> (i % 64)) & 1);
}

// Sets the places of the children's rows in this part of the table, and counts those on the left.
void place(std::vector<Part>& parts, std::span<NodeSplit> splits) {
  std::vector<std::int64_t> sums(2 * splits.size());  // rows and weight of each left child
  for (const Part& p : parts) {
    sums[2 * p.at.owner] += p.left_rows;
    sums[2 * p.at.owner + 1] += p.weight;
  }
  std::vector<Row> left_at, right_at;
  for (size_t i = 0; i < splits.size(); ++i) {
    NodeSplit& s = splits[i];
    s.left.begin = s.node.begin;
    s.left.end = s.right.begin = s.node.begin + narrow<Row>(sums[2 * i]);
    s.right.end = s.node.end;
    s.left.list = s.right.list = 1 - s.node.list;
    s.left.output = s.right.output = s.node.output;
    left_at.push_back(s.left.begin);
    right_at.push_back(s.right.begin);
  }
  for (Part& p : parts) {
    p.left_to = left_at[p.at.owner];
    p.right_to = right_at[p.at.owner];
    left_at[p.at.owner] += p.left_rows;
    right_at[p.at.owner] += p.rows() - p.left_rows;
  }
  for (size_t i = 0; i < splits.size(); ++i) {
    splits[i].left.sums.rows = sums[2 * i];
    splits[i].left.sums.weight = sums[2 * i + 1];
  }
}

}  // namespace

void RowPartition::reset(size_t trees, std::span<const Row> rows, Context&) {
  make_lists(trees);
  for (auto& lists : lists_) std::copy(rows.begin(), rows.end(), lists[0].begin());
}

void RowPartition::reset(size_t trees, const DrawnRows& drawn, Context& context) {
  if (!drawn.all()) return reset(trees, drawn.rows(), context);
  make_lists(trees);
  for (auto& lists : lists_)
    context.over_blocks(lists[0].size(), 65536, 1.0, [&](size_t begin, size_t end, size_t) {
      std::iota(lists[0].data() + begin, lists[0].data() + end, narrow<Row>(begin));
    });
}

void RowPartition::split(std::span<NodeSplit> splits, const Bins& bins, const Weights& weights, Context& context) {
  std::vector<Part> parts;
  for (const Chunk& chunk : cut(splits, kPartitionRows, [](const NodeSplit& s) { return s.node; }))
    parts.push_back({chunk});
  bits_.resize(parts.size() * kPartWords);
  double work = 0;
  for (const auto& s : splits) work += 2.0 * s.node.rows();
  auto list = [&](const Part& p, bool other) {
    const OpenNode& node = splits[p.at.owner].node;
    return lists_[node.output][other ? 1 - node.list : node.list].data();
  };
  auto from = [&](const Part& p) { return list(p, false) + p.at.begin; };
  context.parallel_for(parts.size(), work, [&](size_t i, size_t) {
    mark(parts[i], *splits[parts[i].at.owner].rule, bins, weights, from(parts[i]), bits_.data() + i * kPartWords);
  });
  place(parts, splits);
  context.parallel_for(parts.size(), work, [&](size_t i, size_t) {
    Row* to = list(parts[i], true);
    kernels().partition_rows(parts[i].rows(), from(parts[i]), bits_.data() + i * kPartWords, to + parts[i].left_to,
                             to + parts[i].right_to);
  });
}

void RowPartition::add_up(std::span<NodeSplit> splits, AllGradients gradients, const Weights& weights,
                          Context& context) const {
  if (splits.empty()) return;
  const bool with_gradients = !context.together().alone() && !gradients.empty();
  constexpr size_t kSums = 3;
  std::vector<std::int64_t> sums(kSums * splits.size());
  for (size_t i = 0; i < splits.size(); ++i) {
    const OpenNode& left = splits[i].left;
    sums[kSums * i] = left.sums.rows;
    sums[kSums * i + 1] = left.sums.weight;
    if (with_gradients) sums[kSums * i + 2] = gradients[left.output].over(rows(left), weights, context);
  }
  context.together().sum(sums, "sums of children");
  for (size_t i = 0; i < splits.size(); ++i) {
    NodeSplit& s = splits[i];
    s.left.sums.rows = sums[kSums * i];
    s.left.sums.weight = sums[kSums * i + 1];
    s.right.sums.rows = s.node.sums.rows - s.left.sums.rows;
    s.right.sums.weight = s.node.sums.weight - s.left.sums.weight;
    if (!with_gradients) continue;  // they are added up for nodes that are searched
    s.left.sums.gradient = sums[kSums * i + 2];
    s.right.sums.gradient = s.node.sums.gradient - s.left.sums.gradient;
  }
}

}  // namespace frugal
