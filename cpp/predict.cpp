#include "predict.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace frugal {
namespace {

constexpr size_t kBlock = 64;  // rows that walk through one tree after another

// Columns that the trees look at, in ascending order, and for every node where its column stands in that
// list.
struct UsedColumns {
  std::vector<size_t> columns;
  std::vector<std::uint32_t> place;
};

UsedColumns used_columns(const EnsembleView& m, size_t begin, size_t end) {
  UsedColumns used;
  for (size_t i = begin; i < end; ++i)
    if (m.feature[i] >= 0) used.columns.push_back(static_cast<size_t>(m.feature[i]));
  std::sort(used.columns.begin(), used.columns.end());
  used.columns.erase(std::unique(used.columns.begin(), used.columns.end()), used.columns.end());
  used.place.resize(end - begin);
  for (size_t i = begin; i < end; ++i) {
    if (m.feature[i] < 0) continue;
    auto at = std::lower_bound(used.columns.begin(), used.columns.end(), static_cast<size_t>(m.feature[i]));
    used.place[i - begin] = static_cast<std::uint32_t>(at - used.columns.begin());
  }
  return used;
}

void fail(const std::string& what) {
  throw std::invalid_argument("The model is damaged: " + what + ".");
}

}  // namespace

void EnsembleView::check(size_t features) const {
  const size_t nodes = feature.size();
  if (left.size() != nodes || missing_left.size() != nodes || threshold.size() != nodes || value.size() != nodes)
    fail("its node arrays differ in length");
  if (start.empty() || tree_begin.empty() || tree_begin[0] != 0) fail("it has no start value or no list of trees");
  if (trees() % outputs() != 0) fail("its number of trees is not a multiple of its outputs");
  if (tree_begin.back() != static_cast<std::int64_t>(nodes)) fail("its trees do not cover its nodes");
  for (size_t t = 0; t < trees(); ++t) {
    const std::int64_t begin = tree_begin[t], end = tree_begin[t + 1];
    if (end <= begin || end > static_cast<std::int64_t>(nodes)) fail("a tree has no nodes");
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<size_t>(i);
      if (feature[at] < 0) continue;
      if (static_cast<size_t>(feature[at]) >= features) fail("a tree splits on a feature that does not exist");
      // Children come after their parent: every walk ends.
      if (left[at] <= i - begin || left[at] >= end - begin - 1) fail("a tree's children lie outside it");
    }
  }
}

void add_trees(const EnsembleView& m, const Table& X, size_t first, size_t last, double* raw, Context& context) {
  const size_t n = X.rows;
  const auto base = static_cast<size_t>(m.tree_begin[first]);
  const UsedColumns used = used_columns(m, base, static_cast<size_t>(m.tree_begin[last]));
  const size_t width = used.columns.size();
  X.read([&](auto cell) {
    context.over_blocks(n, kBlock, 10.0 * static_cast<double>(last - first), [&](size_t begin, size_t end, size_t) {
      std::vector<double> values(kBlock * width);
      for (size_t r = begin; r < end; ++r)
        for (size_t c = 0; c < width; ++c) values[(r - begin) * width + c] = cell(r, used.columns[c]);
      for (size_t t = first; t < last; ++t) {
        const auto root = static_cast<size_t>(m.tree_begin[t]);
        double* out = raw + (t % m.outputs()) * n;
        for (size_t r = begin; r < end; ++r) {
          const double* row = values.data() + (r - begin) * width;
          size_t node = root;
          while (m.feature[node] >= 0) {
            const double v = row[used.place[node - base]];
            const bool goes_left = std::isnan(v) ? m.missing_left[node] : v <= m.threshold[node];
            node = root + static_cast<size_t>(m.left[node]) + !goes_left;
          }
          out[r] += m.value[node];
        }
      }
    });
  });
}

namespace {

// Prices of sets of purchases, remembered: rows share few different sets.
class SetPrices {
 public:
  SetPrices(std::span<const PriceRule* const> rules, std::span<const Purchase> purchases)
      : rules_(rules), purchases_(purchases) {}

  double of(const std::vector<bool>& fetched) {
    auto [at, fresh] = known_.try_emplace(fetched, 0.0);
    if (fresh) at->second = replay(fetched);
    return at->second;
  }

 private:
  double replay(const std::vector<bool>& fetched) const {
    std::vector<std::unique_ptr<PriceRule>> copies;
    for (const PriceRule* rule : rules_) copies.push_back(rule->copy());
    Ledger ledger(std::move(copies), kInfinity);
    for (size_t i = 0; i < purchases_.size(); ++i) {
      if (!fetched[i]) continue;
      Purchase purchase = purchases_[i];
      const double now = ledger.price(static_cast<size_t>(purchase.feature));
      if (now < kInfinity) purchase.price = now;
      ledger.restore(purchase);
    }
    return ledger.paid();
  }

  std::span<const PriceRule* const> rules_;
  std::span<const Purchase> purchases_;
  std::unordered_map<std::vector<bool>, double> known_;
};

}  // namespace

PathPrices path_prices(const EnsembleView& m, const Table& X, std::span<const PriceRule* const> rules,
                       std::span<const Purchase> purchases, size_t last, Context& context) {
  const size_t n = X.rows, iterations = last / m.outputs();
  std::vector<size_t> place(X.columns, purchases.size());
  for (size_t i = 0; i < purchases.size(); ++i) place[static_cast<size_t>(purchases[i].feature)] = i;
  for (size_t i = 0; i < static_cast<size_t>(m.tree_begin[last]); ++i)
    if (m.feature[i] >= 0 && place[static_cast<size_t>(m.feature[i])] == purchases.size())
      fail("it uses a feature it did not buy");
  PathPrices out{std::vector<double>(n), std::vector<double>(iterations)};
  const size_t blocks = (n + kBlock - 1) / kBlock;
  std::vector<double> sums(blocks * iterations);  // by block, so that the order of adding is fixed
  std::vector<SetPrices> prices(static_cast<size_t>(context.threads()), SetPrices(rules, purchases));
  X.read([&](auto cell) {
    context.parallel_for(blocks, 10.0 * static_cast<double>(last * n), [&](size_t block, int thread) {
      for (size_t r = block * kBlock; r < std::min(n, (block + 1) * kBlock); ++r) {
        std::vector<bool> fetched(purchases.size());
        double price = 0.0;
        for (size_t t = 0; t < last; ++t) {
          const auto root = static_cast<size_t>(m.tree_begin[t]);
          size_t node = root;
          bool more = false;
          while (m.feature[node] >= 0) {
            const auto column = static_cast<size_t>(m.feature[node]);
            more = more || !fetched[place[column]];
            fetched[place[column]] = true;
            const double v = cell(r, column);
            const bool goes_left = std::isnan(v) ? m.missing_left[node] : v <= m.threshold[node];
            node = root + static_cast<size_t>(m.left[node]) + !goes_left;
          }
          if (more) price = prices[static_cast<size_t>(thread)].of(fetched);
          if ((t + 1) % m.outputs() == 0) sums[block * iterations + t / m.outputs()] += price;
        }
        out.rows[r] = price;
      }
    });
  });
  for (size_t i = 0; i < sums.size(); ++i) out.iterations[i % iterations] += sums[i];
  for (double& mean : out.iterations) mean /= static_cast<double>(n);
  return out;
}

void add_tree(const Tree& tree, const BinnedMatrix& X, double* raw, Context& context) {
  context.over_blocks(X.rows(), 4096, 10.0, [&](size_t begin, size_t end, size_t) {
    for (size_t r = begin; r < end; ++r) {
      size_t node = 0;
      while (!tree.is_leaf(node)) {
        const auto column = static_cast<size_t>(tree.feature[node]);
        const int bin = X.column(column)[r * BinnedMatrix::kLanes];
        const bool missing = bin == X.value_bins(column);
        const bool goes_left = missing ? tree.missing_left[node] != 0 : bin <= tree.bin[node];
        node = static_cast<size_t>(tree.left[node]) + !goes_left;
      }
      raw[r] += tree.value[node];
    }
  });
}

}  // namespace frugal
