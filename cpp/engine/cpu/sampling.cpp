#include "engine/cpu/sampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "support/limits.hpp"
#include "support/mixing.hpp"

namespace frugal {

namespace {

// The same number for the same bins and gradients in the same rows, on any number of threads.
std::uint64_t key_of(const BinnedMatrix& X, const GridGradients& gradients, Context& context) {
  constexpr size_t kBlock = 2048;
  const Lanes lanes = X.lanes();
  std::vector<std::uint64_t> keys((X.rows() + kBlock - 1) / kBlock);
  context.over_blocks(X.rows(), kBlock, static_cast<double>(X.groups() + 4), [&](size_t begin, size_t end, size_t b) {
    std::array<std::uint64_t, kBlock> odd;  // a factor for each row
    std::uint64_t sum = 0;
    for (size_t i = begin; i < end; ++i) {
      odd[i - begin] = mixed((i + 1) * kMixStep) | 1;
      sum += odd[i - begin] * static_cast<std::uint64_t>(gradients.q[i]);
    }
    std::uint64_t key = mixed(sum + (b + 1) * kMixStep);
    for (size_t g = 0; g < X.groups(); ++g) {
      const std::uint64_t used = ~std::uint64_t{0} >> (64 - 8 * lanes.width(g));
      sum = 0;
      for (size_t i = begin; i < end; ++i) {
        std::uint64_t word;
        std::memcpy(&word, lanes.groups[g] + i * kLanes, sizeof word);
        sum += odd[i - begin] * (word & used);
      }
      key = mixed(key + sum);
    }
    keys[b] = key;
  });
  return std::accumulate(keys.begin(), keys.end(), std::uint64_t{0});
}

// The first rows of a random order of all.
std::vector<std::int64_t> random_rows(size_t rows, size_t wanted, std::uint64_t key) {
  std::vector<std::int64_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = 0; i < wanted; ++i) std::swap(order[i], order[i + mixed(key + (i + 1) * kMixStep) % (rows - i)]);
  order.resize(wanted);
  order.shrink_to_fit();
  return order;
}

std::vector<std::int64_t> all_dense(const BinnedMatrix& X) {
  std::vector<std::int64_t> columns;
  for (size_t p = 0; p < X.dense(); ++p) columns.push_back(static_cast<std::int64_t>(X.dense_column(p)));
  return columns;
}

}  // namespace

std::vector<std::int64_t> rows_to_sample(const BinnedMatrix& X, const GridGradients& first, std::uint64_t seed,
                                         Context& context) {
  const size_t share = X.rows() < kSampleManyRows ? kSampleShare : 2 * kSampleShare;
  return random_rows(X.rows(), X.rows() / share, mixed(key_of(X, first, context) + mixed(seed + kMixStep)));
}

namespace {

// What is known of the sample as a table of its own: all dense columns of the whole, by place.
TableFacts facts_of(const BinnedMatrix& sample, const TableFacts& whole, const BinnedMatrix& X) {
  TableFacts facts;
  facts.rows = facts.weight = static_cast<std::int64_t>(sample.rows());
  for (size_t p = 0; p < sample.dense(); ++p) {
    facts.columns.push_back(whole.columns[X.dense_column(p)]);
    facts.columns.back().missing = sample.has_missing(p);
  }
  facts.thresholds = &sample.thresholds();
  return facts;
}

}  // namespace

// A miss takes a column that is worth buying, and there are at most as many purchases as columns. Each may be missed at
// five sizes of the sample: those of first_look, and all of it.
RowSample::RowSample(const BinnedMatrix& X, const TableFacts& table, size_t outputs, std::vector<std::int64_t> chosen,
                     double miss, Context& context)
    : X_(X),
      z_(std::sqrt(2.0 * std::log(5.0 * static_cast<double>(X.dense()) / miss))),
      chosen_(std::move(chosen)),
      rows_(X, all_dense(X), chosen_, context),
      weights_(Weights::from({}, chosen_.size(), false)),
      facts_(facts_of(rows_, table, X)),
      partition_(chosen_.size(), outputs),
      ordered_(weights_),
      search_(facts_, weights_, 1.0) {
  search_.use(rows_.lanes());
}

void RowSample::begin_trees(AllGradients gradients, Context& context) {
  gradients_.resize(gradients.size());
  nodes_.assign(gradients.size(), OpenNode{});
  for (size_t k = 0; k < gradients.size(); ++k) {
    gradients_[k].facts.shift = gradients[k].facts.shift;
    gradients_[k].q.resize(chosen_.size());
    context.over_blocks(chosen_.size(), 16384, 1.0, [&](size_t begin, size_t end, size_t) {
      for (size_t i = begin; i < end; ++i) gradients_[k].q[i] = gradients[k].q[static_cast<size_t>(chosen_[i])];
    });
    nodes_[k].output = k;
    nodes_[k].end = static_cast<Row>(chosen_.size());
  }
  partition_.reset(context);
  ordered_.begin_level(partition_, gradients_);
}

void RowSample::split(std::span<const SplitRule> splits, Context& context) {
  std::vector<Parting> own;
  for (const SplitRule& rule : splits) own.push_back({&rule, nodes_[rule.node]});
  partition_.split(
      own,
      [&](const SplitRule& rule, std::span<const Row> rows, std::uint8_t* out) {
        const std::int32_t p = X_.place(rule.column);
        if (p >= 0) return rows_.gather(static_cast<size_t>(p), rows, out);
        for (size_t i = 0; i < rows.size(); ++i)  // a sparse column is not in the sample
          out[i] = static_cast<std::uint8_t>(X_.bin(rule.column, static_cast<size_t>(chosen_[rows[i]])));
      },
      weights_, context);
  nodes_.clear();
  for (const Parting& s : own) {
    nodes_.push_back(s.left);
    nodes_.push_back(s.right);
  }
  ordered_.begin_level(partition_, gradients_);
}

// A sample of this share of the node's rows shows sqrt(2 gain) of a split, times the root of the share, less z times
// this at most, but for a probability of exp(-z^2 / 2); docs/algorithm.md has the argument. In the middle of the range
// of gradients it is half of that, as Hoeffding's inequality has it; a mean near one end leaves room for a few rows far
// away, which a sample may not have at all.
double RowSample::stray(const Case& given, double share) {
  const double lowest = given.gradients.lowest, highest = given.gradients.highest, range = highest - lowest;
  const double mean = static_cast<double>(given.sums.gradient) / static_cast<double>(given.sums.rows);
  if (!(range > 0)) return 0.0;
  const double far = std::max(highest - mean, mean - lowest), aside = far - 0.5 * range;
  const double few = 0.25 * (1.0 - share) * range * range + aside * aside;
  const double pure = (1.0 - 0.5 * share) * range * range * far / (3.0 * range - far);
  return std::sqrt(1.001 * std::max(few, pure));  // the thousandth: what Chernoff's bound gives away at worst
}

// So many rows that a column which gains next to nothing is ruled out.
double RowSample::rows_needed(const Case& given) const {
  const double n = static_cast<double>(given.sums.rows), mean = static_cast<double>(given.sums.gradient) / n;
  const double spread = std::sqrt(std::max(static_cast<double>(given.sums.squares) / n - mean * mean, 0.0));
  const double limit = scaled(std::sqrt(2.0 * given.doubt.least), given.gradients.shift);
  if (!(limit > 0)) return kInfinity;
  const double length = (z_ * stray(given, 0.0) + 3.5 * spread) / limit;
  return n * length * length;
}

// How many rows to look at first; none where the sample has not enough of them. One of few sizes, whatever the sample
// showed before: chances are counted for each.
size_t RowSample::first_look(const Case& given) const {
  const double needed = rows_needed(given);
  const size_t all = nodes_[given.doubt.node].rows();
  if (!(needed < static_cast<double>(all))) return 0;
  size_t count = static_cast<size_t>(needed) + 1;
  if (given.doubt.again) {
    count = all;
  } else if (given.doubt.least > given.doubt.lowest) {
    size_t size = all;
    while (size / 4 >= std::max(count, all / 64)) size /= 4;
    count = size;
  }
  return std::max(count, std::min<size_t>(all, 64));
}

// sqrt(2 gain) is at most what the sample of m rows shows and what chance may have taken from it, times sqrt(N / m).
void RowSample::judge(const Case& given, size_t group, double sampled, std::span<const ColumnSplit> splits) const {
  const double rows = static_cast<double>(given.sums.rows);
  const double factor = std::sqrt(rows / sampled);
  const double added = z_ * scaled(stray(given, sampled / rows), -given.gradients.shift);
  std::uint8_t& alive = (*given.doubt.alive)[group];
  for (size_t lane = 0; lane < kLanes; ++lane) {
    if (!((alive >> lane) & 1)) continue;
    const double seen = std::sqrt(2.0 * std::max(splits[lane].gain, 0.0));
    const double most = factor * (seen + added) * kSafe;
    if (0.5 * most * most <= given.doubt.limits[group * kLanes + lane])
      alive &= static_cast<std::uint8_t>(~(1u << lane));
  }
}

// Looks at the first rows of each node, as many as asked for; 0: not at all.
void RowSample::look(std::span<const Case> cases, std::span<const size_t> counts, Context& context) {
  std::vector<OpenNode> nodes(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    if (counts[i] == 0) continue;
    nodes[i] = nodes_[cases[i].doubt.node];
    const NodeRows rows = ordered_.of(nodes[i], context);
    nodes[i].end = nodes[i].begin + static_cast<Row>(counts[i]);
    nodes[i].sums.weight = static_cast<std::int64_t>(counts[i]);
    nodes[i].sums.gradient = std::accumulate(rows.q, rows.q + counts[i], std::int64_t{0});
  }
  std::vector<GroupSearch::GroupPiece> pieces;
  std::vector<size_t> case_of;
  for (size_t g = 0; g < rows_.groups(); ++g)  // one group after another, for all nodes: it stays in the cache
    for (size_t i = 0; i < cases.size(); ++i)
      if (counts[i] > 0 && (*cases[i].doubt.alive)[g]) {
        pieces.push_back({&nodes[i], g, (*cases[i].doubt.alive)[g], nullptr});
        case_of.push_back(i);
      }
  std::vector<std::array<ColumnSplit, kLanes>> splits(pieces.size());
  for (size_t p = 0; p < pieces.size(); ++p) pieces[p].splits = splits[p].data();
  search_.search_pieces(pieces, ordered_, gradients_, context);
  for (size_t p = 0; p < pieces.size(); ++p)
    judge(cases[case_of[p]], pieces[p].group, pieces[p].node->rows(), splits[p]);
}

void RowSample::rule_out(std::span<Doubt> doubts, std::span<const OpenNode> nodes, AllGradients gradients,
                         Context& context) {
  std::vector<Case> cases;
  std::vector<size_t> counts;
  for (Doubt& doubt : doubts) {
    const OpenNode& node = nodes[doubt.node];
    cases.push_back({doubt, node.sums, gradients[node.output].facts});
    counts.push_back(first_look(cases.back()));
  }
  look(cases, counts, context);
  // What is left gets a second look at all rows of the sample, where they are many more.
  for (size_t i = 0; i < cases.size(); ++i) {
    const size_t all = nodes_[cases[i].doubt.node].rows();
    counts[i] = counts[i] > 0 && all > 2 * counts[i] ? all : 0;
  }
  look(cases, counts, context);
}

}  // namespace frugal
