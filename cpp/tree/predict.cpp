#include "tree/predict.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace frugal {
namespace {

void fail(const std::string& what) {
  throw std::invalid_argument("The model is damaged: " + what + ".");
}

}  // namespace

double EnsembleView::score(size_t scale, double v) const {
  if (std::isnan(v)) return 0.0;
  const size_t begin = index(scale_begin[scale]), size = index(scale_begin[scale + 1]) - begin;
  const auto cuts = scale_cuts.subspan(begin, size);
  return scale_scores[begin + scale + index(std::lower_bound(cuts.begin(), cuts.end(), v) - cuts.begin())];
}

void EnsembleView::check(size_t features) const {
  const size_t nodes = feature.size();
  if (left.size() != nodes || missing_left.size() != nodes || threshold.size() != nodes || value.size() != nodes ||
      level_set.size() != nodes || line.size() != nodes || slope.size() != nodes)
    fail("its node arrays differ in length");
  check_trees(features);
  check_lines(features);
}

void EnsembleView::check_lines(size_t features) const {
  const size_t scales = scale_feature.size();
  if (scale_begin.size() != scales + 1 || scale_begin[0] != 0 ||
      scale_begin.back() != narrow<std::int64_t>(scale_cuts.size()) ||
      scale_scores.size() != scale_cuts.size() + scales)
    fail("the arrays of its scales differ in length");
  for (size_t s = 0; s < scales; ++s) {
    if (scale_begin[s + 1] < scale_begin[s]) fail("the thresholds of a scale are not in order");
    if (scale_feature[s] < 0 || index(scale_feature[s]) >= features)
      fail("a line is drawn on a feature that does not exist");
  }
  for (size_t t = 0; t < trees(); ++t)
    for (size_t i = root(t); i < root(t + 1); ++i) {
      if (!is_line(i)) continue;
      if (root(t + 1) - root(t) != 1) fail("a tree has a line and splits");
      if (scale(i) >= scales) fail("a line is drawn on a scale that does not exist");
    }
}

void EnsembleView::check_trees(size_t features) const {
  const size_t nodes = feature.size();
  if (start.empty() || tree_begin.empty() || tree_begin[0] != 0) fail("it has no start value or no list of trees");
  if (trees() % outputs() != 0) fail("its number of trees is not a multiple of its outputs");
  const auto all = narrow<std::int64_t>(nodes);
  if (tree_begin.back() != all) fail("its trees do not cover its nodes");
  for (size_t t = 0; t < trees(); ++t) {
    const std::int64_t begin = tree_begin[t], end = tree_begin[t + 1];
    if (end <= begin || end > all) fail("a tree has no nodes");
    for (size_t i = index(begin); i < index(end); ++i) {
      if (is_leaf(i)) continue;
      if (level_set[i] >= 0 && (index(level_set[i]) + 1) * kSetBytes > sets.size())
        fail("a tree splits by a set of levels that does not exist");
      if (column(i) >= features) fail("a tree splits on a feature that does not exist");
      // Children come after their parent, so every walk ends.
      const auto own = narrow<std::int64_t>(i) - begin;
      if (left[i] <= own || left[i] >= end - begin - 1) fail("a tree's children lie outside it");
    }
  }
}

UsedColumns::UsedColumns(const EnsembleView& m, size_t first, size_t last)
    : base(m.root(first)), place(m.root(last) - base) {
  auto column_of = [&](size_t node) {
    return m.is_line(node) ? m.line_column(node) : m.is_leaf(node) ? kNone : m.column(node);
  };
  for (size_t i = 0; i < place.size(); ++i)
    if (const size_t column = column_of(base + i); column != kNone) columns.push_back(column);
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  for (size_t i = 0; i < place.size(); ++i) {
    const size_t column = column_of(base + i);
    if (column == kNone) continue;
    auto at = std::lower_bound(columns.begin(), columns.end(), column);
    place[i] = narrow<std::uint32_t>(at - columns.begin());
  }
}

void Block::read(const Source& X, size_t begin, size_t end) {
  for (size_t c = 0; c < used_.columns.size(); ++c) {
    double* out = values_.data() + c * kRows;
    X.read(used_.columns[c], begin, end, out);
    bool infinite = false;
    for (size_t r = 0; r < end - begin; ++r) infinite |= std::isinf(out[r]);
    if (infinite)
      throw std::domain_error("Input X contains infinity, in column " + std::to_string(used_.columns[c]) +
                              ". Replace it, for example by a missing value (NaN).");
  }
}

namespace {

// A node in 16 bytes. The child of a leaf is the leaf itself, so that all rows of a block take the same number of
// steps.
struct Step {
  double threshold;
  std::uint32_t place;  // of its column in the block
  std::uint32_t left;   // the left child; the highest bit says that missing values go left
};
constexpr std::uint32_t kMissingLeft = 0x80000000u;

struct PackedTree {
  std::vector<Step> steps;  // empty if the tree splits by sets of levels or is very deep
  int depth = 0;
};

PackedTree packed(const EnsembleView& m, const UsedColumns& used, size_t tree) {
  PackedTree out;
  const size_t root = m.root(tree), end = m.root(tree + 1);
  std::vector<int> depth(end - root);
  for (size_t i = root; i < end; ++i) {
    const auto own = narrow<std::uint32_t>(i - root);
    if (m.is_leaf(i)) {
      out.steps.push_back({kInfinity, 0, own | kMissingLeft});
      continue;
    }
    const auto left = narrow<std::uint32_t>(m.left[i]);
    depth[left] = depth[left + 1] = depth[own] + 1;
    out.depth = std::max(out.depth, depth[own] + 1);
    out.steps.push_back({m.threshold[i], used.place[i - used.base], left | (m.missing_left[i] ? kMissingLeft : 0)});
    if (m.level_set[i] >= 0) return {};
  }
  constexpr int kMostSteps = 12;  // deep trees are seldom balanced: most rows would wait for a few
  return out.depth <= kMostSteps ? out : PackedTree{};
}

void walk(const PackedTree& tree, const double* values, size_t rows, std::uint32_t* node) {
  std::fill_n(node, rows, 0u);
  for (int step = 0; step < tree.depth; ++step)
    for (size_t r = 0; r < rows; ++r) {  // without branches, which would be mispredicted half the time
      const Step& s = tree.steps[node[r]];
      const double v = values[s.place * Block::kRows + r];
      const bool left = (v <= s.threshold) | ((v != v) & ((s.left & kMissingLeft) != 0));
      const std::uint32_t next = (s.left & ~kMissingLeft) + !left;
      node[r] = next;
    }
}

// The leaf of each row of a block in a tree, counted from the root.
void find_leaves(const EnsembleView& m, const PackedTree& packed, size_t tree, const Block& block, size_t rows,
                 std::uint32_t* node) {
  if (!packed.steps.empty()) return walk(packed, block.values(), rows, node);
  const size_t root = m.root(tree);
  for (size_t r = 0; r < rows; ++r) {
    size_t at = root;
    while (!m.is_leaf(at)) at = m.child(root, at, block.at(at, r));
    node[r] = narrow<std::uint32_t>(at - root);
  }
}

// The scores of a block of rows, computed when a line first needs them.
class BlockScores {
 public:
  explicit BlockScores(const EnsembleView& model)
      : model_(model), scores_(model.scale_feature.size() * Block::kRows), known_(model.scale_feature.size()) {}

  void begin() { std::fill(known_.begin(), known_.end(), 0); }
  const double* of(size_t node, const Block& block, size_t rows) {
    const size_t scale = model_.scale(node);
    double* out = scores_.data() + scale * Block::kRows;
    if (!known_[scale])
      for (size_t r = 0; r < rows; ++r) out[r] = model_.score(scale, block.at(node, r));
    known_[scale] = 1;
    return out;
  }

 private:
  const EnsembleView& model_;
  std::vector<double> scores_;
  std::vector<std::uint8_t> known_;  // by scale
};

}  // namespace

void add_trees(const EnsembleView& m, const Source& X, size_t first, size_t last, double* raw, Context& context) {
  const size_t n = X.rows();
  const UsedColumns used(m, first, last);
  std::vector<PackedTree> trees;
  for (size_t t = first; t < last; ++t) trees.push_back(packed(m, used, t));
  std::vector<Block> blocks(context.threads(), Block(used));
  std::vector<BlockScores> scores(context.threads(), BlockScores(m));
  const double work = 10.0 * real((last - first) * n);
  context.parallel_for((n + Block::kRows - 1) / Block::kRows, work, [&](size_t number, size_t thread) {
    const size_t begin = number * Block::kRows, rows = std::min(n - begin, Block::kRows);
    Block& block = blocks[thread];
    block.read(X, begin, begin + rows);
    scores[thread].begin();
    std::uint32_t node[Block::kRows];
    for (size_t t = first; t < last; ++t) {
      const size_t root = m.root(t);
      double* out = raw + (t % m.outputs()) * n + begin;
      if (m.is_line(root)) {
        const double* score = scores[thread].of(root, block, rows);
        for (size_t r = 0; r < rows; ++r) out[r] += m.value[root] + m.slope[root] * score[r];
        continue;
      }
      find_leaves(m, trees[t - first], t, block, rows, node);
      for (size_t r = 0; r < rows; ++r) out[r] += m.value[root + node[r]];
    }
  });
}

std::vector<std::int32_t> leaves_of_rows(const EnsembleView& m, const Source& X, size_t last, Context& context) {
  const size_t n = X.rows();
  const UsedColumns used(m, 0, last);
  std::vector<PackedTree> trees;
  for (size_t t = 0; t < last; ++t) trees.push_back(packed(m, used, t));
  std::vector<Block> blocks(context.threads(), Block(used));
  std::vector<std::int32_t> out(n * last);
  context.parallel_for((n + Block::kRows - 1) / Block::kRows, 10.0 * real(last * n), [&](size_t number, size_t thread) {
    const size_t begin = number * Block::kRows, rows = std::min(n - begin, Block::kRows);
    blocks[thread].read(X, begin, begin + rows);
    std::uint32_t node[Block::kRows];
    for (size_t t = 0; t < last; ++t) {
      find_leaves(m, trees[t], t, blocks[thread], rows, node);
      for (size_t r = 0; r < rows; ++r) out[(begin + r) * last + t] = narrow<std::int32_t>(node[r]);
    }
  });
  return out;
}

namespace {

// Costs of sets of purchases. They are remembered, because many rows need the same set.
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
      const double now = ledger.price(purchase.feature);
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

namespace {

// The place of every column among the purchases.
std::vector<size_t> places_of(const EnsembleView& m, std::span<const Purchase> purchases, size_t columns, size_t last) {
  std::vector<size_t> place(columns, kNone);
  for (size_t i = 0; i < purchases.size(); ++i) place[purchases[i].feature] = i;
  for (size_t i = 0; i < m.root(last); ++i) {
    if (!m.is_leaf(i) && place[m.column(i)] == kNone) fail("it uses a feature it did not buy");
    if (m.is_line(i) && place[m.line_column(i)] == kNone) fail("it uses a feature it did not buy");
  }
  return place;
}

}  // namespace

PathPrices path_prices(const EnsembleView& m, const Source& X, std::span<const PriceRule* const> rules,
                       std::span<const Purchase> purchases, size_t last, Context& context) {
  const size_t n = X.rows(), iterations = last / m.outputs();
  const std::vector<size_t> place = places_of(m, purchases, X.columns(), last);
  PathPrices out{std::vector<double>(n), std::vector<double>(iterations)};
  const size_t blocks = (n + Block::kRows - 1) / Block::kRows;
  std::vector<double> sums(blocks * iterations);  // by block, so that the order of summation is fixed
  std::vector<SetPrices> prices(context.threads(), SetPrices(rules, purchases));
  const UsedColumns used(m, 0, last);
  context.parallel_for(blocks, 10.0 * real(last * n), [&](size_t number, size_t thread) {
    const size_t begin = number * Block::kRows, rows = std::min(n - begin, Block::kRows);
    Block block(used);
    block.read(X, begin, begin + rows);
    for (size_t r = 0; r < rows; ++r) {
      std::vector<bool> fetched(purchases.size());
      double price = 0.0;
      for (size_t t = 0; t < last; ++t) {
        const size_t root = m.root(t);
        size_t node = root;
        bool more = false;
        if (m.is_line(root)) {
          const size_t purchase = place[m.line_column(root)];
          more = !fetched[purchase];
          fetched[purchase] = true;
        }
        while (!m.is_leaf(node)) {
          const size_t purchase = place[m.column(node)];
          more = more || !fetched[purchase];
          fetched[purchase] = true;
          node = m.child(root, node, block.at(node, r));
        }
        if (more) price = prices[thread].of(fetched);
        if ((t + 1) % m.outputs() == 0) sums[number * iterations + t / m.outputs()] += price;
      }
      out.rows[begin + r] = price;
    }
  });
  for (size_t i = 0; i < sums.size(); ++i) out.iterations[i % iterations] += sums[i];
  for (double& mean : out.iterations) mean /= real(n);
  return out;
}

namespace {

bool goes_left(const Tree& tree, size_t node, const BinnedMatrix& X, size_t row) {
  const size_t column = tree.column(node);
  const std::uint8_t bin = X.bin(column, row);
  if (bin == X.value_bins(column)) return tree.missing_left[node] != 0;
  return tree.by_levels(node) ? contains(tree.levels(node), bin) : bin <= tree.bin[node];
}

}  // namespace

void add_tree(const Tree& tree, const BinnedMatrix& X, std::span<const Row> except, double* raw, Context& context) {
  context.over_blocks(X.rows(), 4096, 10.0, [&](size_t begin, size_t end, size_t) {
    auto next = std::lower_bound(except.begin(), except.end(), begin);
    for (size_t r = begin; r < end; ++r) {
      if (next != except.end() && *next == r) {
        ++next;
        continue;
      }
      size_t node = 0;
      while (!tree.is_leaf(node)) node = tree.left_child(node) + !goes_left(tree, node, X, r);
      raw[r] += tree.value[node];
    }
  });
}

}  // namespace frugal
