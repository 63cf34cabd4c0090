#include "sparse_search.hpp"

#include <algorithm>

#include "kernels.hpp"
#include "limits.hpp"

namespace frugal {

SparseSearch::SparseSearch(const BinnedMatrix& X, const Weights& weights, double min_weight)
    : X_(X), weights_(weights), min_weight_(min_weight) {
  for (size_t s = 0; s < X.sparse(); ++s) {
    std::int64_t weight = 0;
    for (Row row : X.listed(s).rows) weight += weights.unit(row);
    if (static_cast<double>(weight) >= min_weight_) worth_searching_.push_back(s);
  }
}

// Sums what is listed of one column; the usual bin has what is left of each node.
void SparseSearch::search_column(size_t number, const std::vector<const OpenNode*>& nodes,
                                 const GridGradients& gradients, ColumnSplit* splits,
                                 std::vector<std::int64_t>& cells) const {
  const size_t c = X_.sparse_column(number);
  const auto column = X_.listed(number);
  const auto words = static_cast<size_t>(2 * X_.cells(c));
  for (size_t first = 0; first < nodes.size(); first += kSparseSlots) {
    const size_t count = std::min<size_t>(kSparseSlots, nodes.size() - first);
    cells.assign(count * words, 0);
    for (size_t i = 0; i < column.rows.size(); ++i) {
      const Row row = column.rows[i];
      const size_t slot = static_cast<size_t>(slot_of_row_[row]) - first;  // wraps around below the first
      if (slot >= count) continue;
      std::int64_t* cell = cells.data() + slot * words + 2 * size_t{column.bins[i]};
      const std::int64_t unit = weights_.unit(row);
      cell[0] += unit * gradients.q[row];
      cell[1] += unit;
    }
    for (size_t slot = 0; slot < count; ++slot) {
      const OpenNode* node = nodes[first + slot];
      if (node == nullptr) continue;
      std::int64_t* own = cells.data() + slot * words;
      std::int64_t gradient = 0, weight = 0;
      for (size_t w = 0; w < words; w += 2) {
        gradient += own[w];
        weight += own[w + 1];
      }
      if (static_cast<double>(weight) < min_weight_) continue;  // the side without the usual bin is too light
      own[2 * column.usual_bin] = node->gradient - gradient;
      own[2 * column.usual_bin + 1] = node->weight - weight;
      const ScanResult best =
          kernels().scan_wide({own, X_.value_bins(c), X_.has_missing(c), node->gradient, node->weight, min_weight_,
                               gradients.gain_factor(weights_, node->weight)});
      splits[first + slot] = {best.gain, static_cast<std::uint16_t>(best.bin),
                              static_cast<MissingSide>(best.missing_side)};
    }
  }
}

void SparseSearch::search(std::span<const size_t> columns, const std::vector<const OpenNode*>& nodes,
                          const RowPartition& partition, const GridGradients& gradients, std::span<ColumnSplit> splits,
                          Context& context) {
  std::fill(splits.begin(), splits.end(), ColumnSplit{});
  if (columns.empty()) return;
  slot_of_row_.assign(X_.rows(), -1);
  for (size_t slot = 0; slot < nodes.size(); ++slot) {
    if (nodes[slot] == nullptr) continue;
    const Row* rows = partition.rows(*nodes[slot]);
    for (size_t i = 0; i < nodes[slot]->rows(); ++i) slot_of_row_[rows[i]] = static_cast<std::int32_t>(slot);
  }
  std::vector<std::vector<std::int64_t>> cells(static_cast<size_t>(context.threads()));
  double work = 0;
  for (size_t s : columns) work += 3.0 * static_cast<double>(X_.listed(s).rows.size() + 20 * nodes.size());
  constexpr size_t kBlock = 32;
  context.parallel_for((columns.size() + kBlock - 1) / kBlock, work, [&](size_t block, int thread) {
    for (size_t i = block * kBlock; i < std::min(columns.size(), (block + 1) * kBlock); ++i)
      search_column(columns[i], nodes, gradients, splits.data() + i * nodes.size(), cells[static_cast<size_t>(thread)]);
  });
}

}  // namespace frugal
