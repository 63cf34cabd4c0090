#include "engine/cpu/sparse_search.hpp"

#include <algorithm>

#include "engine/cpu/kernels.hpp"
#include "support/limits.hpp"

namespace frugal {

SparseSearch::SparseSearch(const BinnedMatrix& X, const Weights& weights, double min_weight)
    : X_(X), weights_(weights), min_weight_(min_weight) {
  for (size_t s = 0; s < X.sparse(); ++s) {
    std::int64_t weight = 0;
    for (Row row : X.listed(s).rows) weight += weights.unit(row);
    if (static_cast<double>(weight) >= min_weight_) worth_searching_.push_back(s);
  }
}

void SparseSearch::measure(std::span<const size_t> numbers, AllGradients gradients, Context& context) {
  measured_.resize(gradients.size());
  for (size_t k = 0; k < gradients.size(); ++k) measure_output(numbers, gradients[k], measured_[k], context);
}

SparseSearch::Listed SparseSearch::listed_sums(std::span<const Row> rows, const GridGradients& gradients) const {
  std::int64_t weight = static_cast<std::int64_t>(rows.size());
  Wide squares = 0;
  if (weights_.uniform()) {
    constexpr size_t kFit = 1024;  // so many squares of numbers up to 2^26 fit a word
    for (size_t from = 0; from < rows.size(); from += kFit) {
      std::int64_t some = 0;
      for (Row row : rows.subspan(from, std::min(kFit, rows.size() - from)))
        some += std::int64_t{gradients.q[row]} * gradients.q[row];
      squares += some;
    }
  } else {
    weight = 0;
    for (Row row : rows) {
      const std::int64_t unit = weights_.units[row], q = gradients.q[row];
      weight += unit;
      squares += Wide{unit} * (q * q);
    }
  }
  return {scaled(static_cast<double>(weight), -weights_.shift),
          scaled(static_cast<double>(squares), -2 * gradients.shift - weights_.shift)};
}

void SparseSearch::measure_output(std::span<const size_t> numbers, const GridGradients& gradients,
                                  std::vector<Listed>& out, Context& context) const {
  out.resize(X_.sparse());
  double work = 0;
  for (size_t s : numbers) work += static_cast<double>(X_.listed(s).rows.size());
  constexpr size_t kBlock = 64;
  const size_t count = numbers.size();
  context.parallel_for((count + kBlock - 1) / kBlock, work, [&](size_t block, int) {
    for (size_t i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i) {
      out[numbers[i]] = listed_sums(X_.listed(numbers[i]).rows, gradients);
    }
  });
}

// Sums what is listed of one column, some nodes at a time. Packed: gradient and count in one word.
template <bool Packed>
void SparseSearch::add_up(const BinnedMatrix::SparseColumn& column, size_t first, size_t count, size_t words,
                          std::int64_t* cells) const {
  for (size_t i = 0; i < column.rows.size(); ++i) {
    const Placed& row = placed_[column.rows[i]];
    const size_t slot = static_cast<size_t>(row.slot) - first;  // wraps around below the first
    if (slot >= count) continue;
    if constexpr (Packed) {
      cells[slot * words + column.bins[i]] += (static_cast<std::int64_t>(row.q) << kCountBits) + 1;
    } else {
      const std::int64_t unit = weights_.unit(column.rows[i]);
      cells[slot * words + 2 * size_t{column.bins[i]}] += unit * row.q;
      cells[slot * words + 2 * size_t{column.bins[i]} + 1] += unit;
    }
  }
}

// The usual bin has what is left of the node. A side that is too light is found before anything is scanned.
template <bool Packed>
ColumnSplit SparseSearch::best_of(const OpenNode& node, size_t c, std::uint8_t usual_bin, double factor,
                                  std::int64_t* cells) const {
  std::int64_t gradient = 0, weight = 0;
  const auto count = static_cast<size_t>(X_.cells(c));
  if constexpr (Packed) {
    std::int64_t sum = 0;
    for (size_t i = 0; i < count; ++i) sum += cells[i];
    gradient = sum >> kCountBits;
    weight = sum & kCountMask;
  } else {
    for (size_t i = 0; i < count; ++i) {
      gradient += cells[2 * i];
      weight += cells[2 * i + 1];
    }
  }
  if (static_cast<double>(weight) < min_weight_) return {};
  const std::int64_t rest = node.gradient - gradient, rest_weight = node.weight - weight;
  if constexpr (Packed) {
    cells[usual_bin] = (rest << kCountBits) + rest_weight;
  } else {
    cells[2 * usual_bin] = rest;
    cells[2 * usual_bin + 1] = rest_weight;
  }
  const auto scan = Packed ? kernels().scan_packed : kernels().scan_wide;
  const ScanResult best =
      scan({cells, X_.value_bins(c), X_.has_missing(c), node.gradient, node.weight, min_weight_, factor});
  return {best.gain, static_cast<std::uint16_t>(best.bin), static_cast<MissingSide>(best.missing_side)};
}

template <bool Packed>
void SparseSearch::search_column(size_t number, std::span<const OpenNode* const> nodes, std::span<const double> factors,
                                 ColumnSplit* splits, std::vector<std::int64_t>& cells) const {
  const size_t c = X_.sparse_column(number);
  const auto column = X_.listed(number);
  const auto words = static_cast<size_t>((Packed ? 1 : 2) * X_.cells(c));
  for (size_t first = 0; first < nodes.size(); first += kSparseSlots) {
    const size_t count = std::min<size_t>(kSparseSlots, nodes.size() - first);
    cells.assign(count * words, 0);
    add_up<Packed>(column, first, count, words, cells.data());
    for (size_t slot = first; slot < first + count; ++slot)
      if (nodes[slot])
        splits[slot] =
            best_of<Packed>(*nodes[slot], c, column.usual_bin, factors[slot], cells.data() + (slot - first) * words);
  }
}

void SparseSearch::search(std::span<const size_t> columns, const std::vector<const OpenNode*>& nodes,
                          const RowPartition& partition, AllGradients gradients, std::span<ColumnSplit> splits,
                          Context& context) {
  std::fill(splits.begin(), splits.end(), ColumnSplit{});
  if (columns.empty()) return;
  // A row is in one node of each output; the nodes of an output lie together.
  for (size_t begin = 0; begin < nodes.size();) {
    size_t end = begin;
    const OpenNode* some = nullptr;
    for (; end < nodes.size() && (!nodes[end] || !some || nodes[end]->output == some->output); ++end)
      if (nodes[end]) some = nodes[end];
    if (some)
      search_output(columns, {nodes.data() + begin, end - begin}, partition, of(gradients, *some),
                    {splits.data() + begin, nodes.size()}, context);
    begin = end;
  }
}

void SparseSearch::search_output(std::span<const size_t> columns, std::span<const OpenNode* const> nodes,
                                 const RowPartition& partition, const GridGradients& gradients, Strided splits,
                                 Context& context) {
  placed_.assign(X_.rows(), Placed{});
  std::vector<double> factors(nodes.size());
  for (size_t slot = 0; slot < nodes.size(); ++slot) {
    if (nodes[slot] == nullptr) continue;
    factors[slot] = gradients.gain_factor(weights_, nodes[slot]->weight);
    const Row* rows = partition.rows(*nodes[slot]);
    context.over_blocks(nodes[slot]->rows(), 4096, 2.0, [&](size_t begin, size_t end, size_t) {
      for (size_t i = begin; i < end; ++i) placed_[rows[i]] = {static_cast<std::int32_t>(slot), gradients.q[rows[i]]};
    });
  }
  const bool packed = weights_.uniform() && X_.rows() <= static_cast<size_t>(kCountMask);
  std::vector<std::vector<std::int64_t>> cells(static_cast<size_t>(context.threads()));
  double work = 0;
  for (size_t s : columns) work += 3.0 * static_cast<double>(X_.listed(s).rows.size() + 20 * nodes.size());
  constexpr size_t kBlock = 32;
  context.parallel_for((columns.size() + kBlock - 1) / kBlock, work, [&](size_t block, int thread) {
    auto& own = cells[static_cast<size_t>(thread)];
    for (size_t i = block * kBlock; i < std::min(columns.size(), (block + 1) * kBlock); ++i) {
      ColumnSplit* out = splits.first + i * splits.step;
      if (packed) {
        search_column<true>(columns[i], nodes, factors, out, own);
      } else {
        search_column<false>(columns[i], nodes, factors, out, own);
      }
    }
  });
}

}  // namespace frugal
