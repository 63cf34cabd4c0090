#include "engine/cpu/drawn_rows.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace frugal {
namespace {

constexpr size_t kBlock = 16384;

size_t blocks_of(size_t rows) {
  return (rows + kBlock - 1) / kBlock;
}

}  // namespace

DrawnRows::DrawnRows(const Weights& weights, size_t own, Context& context) : whole_(weights), own_(own) {
  Together& together = context.together();
  std::vector<std::int64_t> counts(together.parts());
  counts[together.part()] = narrow<std::int64_t>(own);
  together.sum(counts, "rows of parts");
  for (size_t p = 0; p < together.part(); ++p) first_ += index(counts[p]);
}

// Every block writes its rows where its own begin; then they are moved together.
void DrawnRows::draw(const RowDraw& draw, Context& context) {
  draw_ = draw;
  filled_ = false;
  rows_.clear();
  if (all()) return;
  rows_.resize(own_);
  std::vector<size_t> count(blocks_of(own_));
  std::vector<std::int64_t> weight(count.size());
  context.over_blocks(own_, kBlock, 4.0, [&](size_t begin, size_t end, size_t block) {
    Row* out = rows_.data() + begin;
    for (size_t row = begin; row < end; ++row) {
      if (!draw_.has(first_ + row)) continue;
      *out++ = narrow<Row>(row);
      weight[block] += whole_.unit(row);
    }
    count[block] = index(out - rows_.data()) - begin;
  });
  size_t kept = 0;
  for (size_t block = 0; block < count.size(); kept += count[block++])
    std::copy_n(rows_.data() + block * kBlock, count[block], rows_.data() + kept);
  rows_.resize(kept);
  std::array<std::int64_t, 2> sums{narrow<std::int64_t>(kept), std::accumulate(weight.begin(), weight.end(), 0LL)};
  context.together().sum(sums, "drawn rows");
  drawn_.rows = sums[0];
  drawn_.total = sums[1];
}

const Weights& DrawnRows::weights() {
  if (all()) return whole_;
  if (filled_) return drawn_;
  filled_ = drawn_.weighted = drawn_.given = true;
  drawn_.shift = whole_.shift;
  drawn_.units.assign(own_, 0);
  for (Row row : rows_) drawn_.units[row] = whole_.unit(row);
  return drawn_;
}

NodeSums DrawnRows::sums(const GridGradients& gradients, Context& context) const {
  if (all()) return {whole_.rows, whole_.total, gradients.facts.total, 0};
  std::vector<std::int64_t> parts(blocks_of(rows_.size()));
  context.over_blocks(rows_.size(), kBlock, 1.0, [&](size_t begin, size_t end, size_t block) {
    for (size_t i = begin; i < end; ++i) parts[block] += whole_.unit(rows_[i]) * gradients.q[rows_[i]];
  });
  const std::int64_t own = std::accumulate(parts.begin(), parts.end(), 0LL);
  return {drawn_.rows, drawn_.total, sum_of(context.together(), own, "gradients of drawn rows"), 0};
}

}  // namespace frugal
