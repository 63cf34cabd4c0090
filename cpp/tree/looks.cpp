#include "tree/looks.hpp"

#include <algorithm>

namespace frugal {
namespace {

// Calls look(row of the block, place among the used columns, tree) for every row, tree and node on its path.
template <class Look>
void walk(const EnsembleView& m, const UsedColumns& used, const Block& block, size_t rows, size_t last,
          const Look& look) {
  for (size_t t = 0; t < last; ++t) {
    const size_t root = m.root(t);
    for (size_t r = 0; r < rows; ++r) {
      if (m.is_line(root)) look(r, used.place[root - used.base], t);
      for (size_t node = root; !m.is_leaf(node); node = m.child(root, node, block.at(node, r)))
        look(r, used.place[node - used.base], t);
    }
  }
}

size_t blocks_of(size_t rows) {
  return (rows + Block::kRows - 1) / Block::kRows;
}

}  // namespace

std::vector<std::uint8_t> looked_rows(const EnsembleView& m, const Source& X, std::span<const size_t> columns,
                                      size_t last, Context& context) {
  const size_t n = X.rows();
  const UsedColumns used(m, 0, last);
  std::vector<size_t> wanted(used.columns.size(), kNone);  // by place: the number among those asked for
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto at = std::lower_bound(used.columns.begin(), used.columns.end(), columns[i]);
    if (at != used.columns.end() && *at == columns[i]) wanted[index(at - used.columns.begin())] = i;
  }
  std::vector<std::uint8_t> out(columns.size() * n);
  context.parallel_for(blocks_of(n), 10.0 * real(last * n), [&](size_t number, size_t) {
    const size_t begin = number * Block::kRows, rows = std::min(n - begin, Block::kRows);
    Block block(used);
    block.read(X, begin, begin + rows);
    walk(m, used, block, rows, last, [&](size_t r, size_t place, size_t) {
      if (wanted[place] != kNone) out[wanted[place] * n + begin + r] = 1;
    });
  });
  return out;
}

PathPrices row_costs(const EnsembleView& m, const Source& X, std::span<const double> prices,
                     std::span<const double> weights, size_t last, Context& context) {
  const size_t n = X.rows(), iterations = last / m.outputs();
  const UsedColumns used(m, 0, last);
  const size_t features = used.columns.size();
  PathPrices out{std::vector<double>(n), std::vector<double>(iterations)};
  std::vector<double> sums(blocks_of(n) * iterations);  // what is paid in each iteration, by block
  auto weight = [&](size_t row) { return weights.empty() ? 1.0 : weights[row]; };
  context.parallel_for(blocks_of(n), 10.0 * real(last * n), [&](size_t number, size_t) {
    const size_t begin = number * Block::kRows, rows = std::min(n - begin, Block::kRows);
    Block block(used);
    block.read(X, begin, begin + rows);
    std::vector<std::uint8_t> looked(Block::kRows * features);
    walk(m, used, block, rows, last, [&](size_t r, size_t place, size_t tree) {
      std::uint8_t& flag = looked[r * features + place];
      if (flag) return;
      flag = 1;
      const double price = prices[used.columns[place]];
      out.rows[begin + r] += price;
      sums[number * iterations + tree / m.outputs()] += weight(begin + r) * price;
    });
  });
  double total = 0.0;
  for (size_t r = 0; r < n; ++r) total += weight(r);
  for (size_t i = 0; i < sums.size(); ++i) out.iterations[i % iterations] += sums[i];
  double paid = 0.0;
  for (double& mean : out.iterations) mean = (paid += mean) / total;
  return out;
}

}  // namespace frugal
