#include "engine/cpu/sparse_search.hpp"

#include <algorithm>

#include "engine/cpu/constrained_scan.hpp"
#include "support/kernels.hpp"
#include "support/limits.hpp"
#include "support/packed_cell.hpp"

namespace frugal {
namespace {

constexpr size_t kBlock = 32;  // columns per task

struct ListedUnits {
  std::int64_t weight = 0;
  Int128 squares = 0;
};

ListedUnits units_of(std::span<const Row> rows, const GridGradients& gradients, const Weights& weights) {
  ListedUnits sums;
  if (weights.uniform()) {
    sums.weight = narrow<std::int64_t>(rows.size());
    constexpr size_t kFit = 1024;  // the sum of that many squares of numbers up to 2^26 fits a word
    for (size_t from = 0; from < rows.size(); from += kFit) {
      std::int64_t some = 0;
      for (Row row : rows.subspan(from, std::min(kFit, rows.size() - from)))
        some += std::int64_t{gradients.q[row]} * gradients.q[row];
      sums.squares += some;
    }
    return sums;
  }
  for (Row row : rows) {
    const std::int64_t unit = weights.units[row], q = gradients.q[row];
    sums.weight += unit;
    sums.squares += Int128{unit} * (q * q);
  }
  return sums;
}

}  // namespace

std::vector<ListedSums> SparseSearch::listed(std::span<const size_t> columns, const GridGradients& gradients,
                                             Context& context) const {
  std::vector<std::int64_t> weights(columns.size());
  std::vector<Int128> squares(columns.size());
  double work = 0;
  for (size_t c : columns) work += real(listed_rows(c).rows.size());
  context.parallel_for((columns.size() + kBlock - 1) / kBlock, work, [&](size_t block, size_t) {
    for (size_t i = block * kBlock; i < std::min(columns.size(), (block + 1) * kBlock); ++i) {
      const ListedUnits sums = units_of(listed_rows(columns[i]).rows, gradients, weights_);
      weights[i] = sums.weight;
      squares[i] = sums.squares;
    }
  });
  context.together().sum(weights, "listed weights");
  sum_all(context.together(), squares, "listed squares");
  std::vector<ListedSums> out;
  for (size_t i = 0; i < columns.size(); ++i)
    out.push_back({scaled(real(weights[i]), -weights_.shift),
                   scaled(real(squares[i]), -2 * gradients.facts.shift - weights_.shift)});
  return out;
}

template <bool Packed>
void SparseSearch::add_rows(const BinnedMatrix::SparseColumn& column, size_t first, size_t count, size_t words,
                            std::int64_t* cells) const {
  // Copies that stay in registers: a size in memory could be one of the cells that are written.
  const size_t listed = column.rows.size();
  const Row* rows = column.rows.data();
  const std::uint8_t* bins = column.bins;
  const Placed* placed = placed_.data();
  for (size_t i = 0; i < listed; ++i) {
    const Placed& row = placed[rows[i]];
    const size_t node = row.node - first;  // wraps around to a large number if the node comes before the first
    if (node >= count) continue;
    if constexpr (Packed) {
      cells[node * words + bins[i]] += packed_row(row.q);
    } else {
      const std::int64_t unit = weights_.unit(rows[i]);
      cells[node * words + 2 * size_t{bins[i]}] += unit * row.q;
      cells[node * words + 2 * size_t{bins[i]} + 1] += unit;
    }
  }
}

// Sums the histograms of one column over its listed rows, for `count` nodes from `first` on.
void SparseSearch::add_up(const OfOutput& own, const Column& column, size_t first, size_t count,
                          std::int64_t* cells) const {
  std::fill_n(cells, count * column.words, 0);
  if (own.packed) {
    add_rows<true>(column.listed, first, count, column.words, cells);
  } else {
    add_rows<false>(column.listed, first, count, column.words, cells);
  }
}

// The usual bin has the rest of the node's sums. If the listed rows are lighter than a leaf may be, no split is
// allowed, and nothing is scanned.
template <bool Packed>
ColumnSplit SparseSearch::best_of(const OpenNode& node, const Column& column, double factor,
                                  std::int64_t* cells) const {
  const ColumnFacts& facts = column.facts;
  const std::uint8_t usual_bin = column.listed.usual_bin;
  std::int64_t gradient = 0, weight = 0;
  const size_t count = facts.cells();
  if constexpr (Packed) {
    std::int64_t sum = 0;
    for (size_t i = 0; i < count; ++i) sum += cells[i];
    gradient = packed_gradient(sum);
    weight = packed_count(sum);
  } else {
    for (size_t i = 0; i < count; ++i) {
      gradient += cells[2 * i];
      weight += cells[2 * i + 1];
    }
  }
  if (real(weight) < min_weight_) return {};
  const std::int64_t rest = node.sums.gradient - gradient, rest_weight = node.sums.weight - weight;
  if constexpr (Packed) {
    cells[usual_bin] = packed_cell(rest, rest_weight);
  } else {
    cells[2 * usual_bin] = rest;
    cells[2 * usual_bin + 1] = rest_weight;
  }
  const auto scan = Packed ? kernels().scan_packed : kernels().scan_wide;
  const ScanTask task{cells, facts.bins, facts.missing, node.sums.gradient, node.sums.weight, min_weight_, factor};
  const ScanResult best =
      facts.trend != 0 || node.range.limited() ? constrained_scan(task, Packed, facts.trend, node.range) : scan(task);
  return {best.gain, best.bin, best.missing};
}

void SparseSearch::find_best(const OfOutput& own, const Column& column, size_t first, size_t count, std::int64_t* cells,
                             ColumnSplit* splits) const {
  for (size_t n = first; n < first + count; ++n) {
    if (!own.wanted[n]) continue;
    std::int64_t* node_cells = cells + (n - first) * column.words;
    splits[n] = own.packed ? best_of<true>(own.nodes[n], column, own.factors[n], node_cells)
                           : best_of<false>(own.nodes[n], column, own.factors[n], node_cells);
  }
}

void SparseSearch::place(const OfOutput& own, const RowPartition& partition, const GridGradients& gradients,
                         Context& context) {
  placed_.assign(X_.rows(), Placed{});
  for (size_t n = 0; n < own.nodes.size(); ++n) {
    if (!own.wanted[n]) continue;
    const auto rows = partition.rows(own.nodes[n]);
    context.over_blocks(rows.size(), 4096, 2.0, [&](size_t begin, size_t end, size_t) {
      const auto node = narrow<std::uint32_t>(n);
      for (size_t i = begin; i < end; ++i) placed_[rows[i]] = {node, gradients.q[rows[i]]};
    });
  }
}

void SparseSearch::search_output(std::span<const size_t> columns, const OfOutput& own, Context& context) const {
  std::vector<std::vector<std::int64_t>> cells(context.threads());
  double work = 0;
  for (size_t c : columns) work += 3.0 * real(listed_rows(c).rows.size() + 20 * own.nodes.size());
  context.parallel_for((columns.size() + kBlock - 1) / kBlock, work, [&](size_t block, size_t thread) {
    auto& mine = cells[thread];
    for (size_t i = block * kBlock; i < std::min(columns.size(), (block + 1) * kBlock); ++i) {
      const Column column = column_of(own, columns[i]);
      for (size_t first = 0; first < own.nodes.size(); first += kSparseSlots) {
        const size_t count = std::min(kSparseSlots, own.nodes.size() - first);
        if (mine.size() < count * column.words) mine.resize(count * column.words);
        add_up(own, column, first, count, mine.data());
        find_best(own, column, first, count, mine.data(), own.splits + i * own.step);
      }
    }
  });
}

// For a table in parts: the histograms of as many columns as kPartsBytes has room for are summed in one message.
void SparseSearch::search_in_parts(std::span<const size_t> columns, const OfOutput& own, Context& context) const {
  const size_t nodes = own.nodes.size();
  for (size_t begin = 0; begin < columns.size();) {
    std::vector<size_t> at{0};
    size_t end = begin;
    while (end < columns.size() && at.back() * sizeof(std::int64_t) < kPartsBytes)
      at.push_back(at.back() + nodes * column_of(own, columns[end++]).words);
    std::vector<std::int64_t> cells(at.back());
    context.parallel_for(end - begin, 1e6, [&](size_t i, size_t) {
      add_up(own, column_of(own, columns[begin + i]), 0, nodes, cells.data() + at[i]);
    });
    context.together().sum(cells, "histograms of sparse columns");
    context.parallel_for(end - begin, 1e6, [&](size_t i, size_t) {
      find_best(own, column_of(own, columns[begin + i]), 0, nodes, cells.data() + at[i],
                own.splits + (begin + i) * own.step);
    });
    begin = end;
  }
}

void SparseSearch::search(std::span<const size_t> columns, std::span<const OpenNode> nodes,
                          std::span<const std::uint8_t> wanted, const RowPartition& partition, AllGradients gradients,
                          std::span<ColumnSplit> splits, Context& context) {
  std::fill(splits.begin(), splits.end(), ColumnSplit{});
  if (columns.empty()) return;
  // A row is in one node of each output, so outputs are searched one by one. The nodes of an output are contiguous.
  for (size_t begin = 0, end = 0; begin < nodes.size(); begin = end) {
    const size_t output = nodes[begin].output;
    while (end < nodes.size() && nodes[end].output == output) ++end;
    OfOutput own{nodes.subspan(begin, end - begin),
                 wanted.subspan(begin, end - begin),
                 {},
                 splits.data() + begin,
                 nodes.size(),
                 !table_.weighted && table_.rows <= kCountMask};
    if (std::all_of(own.wanted.begin(), own.wanted.end(), [](std::uint8_t w) { return w == 0; })) continue;
    for (const OpenNode& node : own.nodes)
      own.factors.push_back(gradients[output].gain_factor(weights_, std::max<std::int64_t>(1, node.sums.weight)));
    place(own, partition, gradients[output], context);
    if (context.together().alone()) {
      search_output(columns, own, context);
    } else {
      search_in_parts(columns, own, context);
    }
  }
}

}  // namespace frugal
