#include "engine/cpu/sampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "support/limits.hpp"
#include "support/mask.hpp"
#include "support/mixing.hpp"

namespace frugal {

namespace {

// A hash of all bins and gradients with their rows, the same for any number of threads.
std::uint64_t key_of(const BinnedMatrix& X, const GridGradients& gradients, Context& context) {
  constexpr size_t kBlock = 2048;
  const Lanes lanes = X.lanes();
  std::vector<std::uint64_t> keys((X.rows() + kBlock - 1) / kBlock);
  context.over_blocks(X.rows(), kBlock, real(X.groups() + 4), [&](size_t begin, size_t end, size_t b) {
    std::array<std::uint64_t, kBlock> odd;  // a factor for each row
    std::uint64_t sum = 0;
    for (size_t i = begin; i < end; ++i) {
      odd[i - begin] = mixed((i + 1) * kMixStep) | 1;
      sum += odd[i - begin] * low_bits<std::uint64_t>(gradients.q[i]);  // modulo 2^64
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

// The first rows of a random permutation of all rows.
std::vector<Row> random_rows(size_t rows, size_t wanted, std::uint64_t key) {
  std::vector<Row> order(rows);
  std::iota(order.begin(), order.end(), Row{0});
  for (size_t i = 0; i < wanted; ++i) std::swap(order[i], order[i + mixed(key + (i + 1) * kMixStep) % (rows - i)]);
  order.resize(wanted);
  order.shrink_to_fit();
  return order;
}

std::vector<size_t> all_dense(const BinnedMatrix& X) {
  std::vector<size_t> columns;
  for (size_t p = 0; p < X.dense(); ++p) columns.push_back(X.dense_column(p));
  return columns;
}

}  // namespace

std::vector<Row> rows_to_sample(const BinnedMatrix& X, const GridGradients& first, std::uint64_t seed,
                                Context& context) {
  const size_t share = X.rows() < kSampleManyRows ? kSampleShare : 2 * kSampleShare;
  return random_rows(X.rows(), X.rows() / share, mixed(key_of(X, first, context) + mixed(seed + kMixStep)));
}

namespace {

// The sample as a table of its own: its columns are the dense columns of the whole table, by place.
TableFacts facts_of(const BinnedMatrix& sample, const TableFacts& whole, const BinnedMatrix& X) {
  TableFacts facts;
  facts.rows = facts.weight = narrow<std::int64_t>(sample.rows());
  for (size_t p = 0; p < sample.dense(); ++p) {
    facts.columns.push_back(whole.columns[X.dense_column(p)]);
    facts.columns.back().missing = sample.has_missing(p);
    facts.columns.back().trend = 0;  // gains without constraints are bounds too
  }
  facts.thresholds = &sample.thresholds();
  return facts;
}

}  // namespace

SampleBounds::SampleBounds(size_t columns, double miss) : z_(std::sqrt(2.0 * std::log(5.0 * real(columns) / miss))) {}

RowSample::RowSample(const BinnedMatrix& X, const TableFacts& table, std::vector<Row> chosen, double miss,
                     Context& context)
    : X_(X),
      bounds_(X.dense(), miss),
      chosen_(std::move(chosen)),
      rows_(X, all_dense(X), chosen_, context),
      weights_(Weights::from({}, chosen_.size(), false)),
      facts_(facts_of(rows_, table, X)),
      partition_(chosen_.size()),
      ordered_(weights_),
      search_(facts_, weights_, 1.0) {
  search_.use(rows_.lanes());
}

// Whether a row was drawn for these trees has nothing to do with its place in the sample, so the rows that are left are
// a random sample of the drawn ones.
void RowSample::begin_trees(AllGradients gradients, const DrawnRows& drawn, Context& context) {
  std::vector<Row> places;
  for (size_t i = 0; i < chosen_.size(); ++i)
    if (drawn.has(chosen_[i])) places.push_back(narrow<Row>(i));
  gradients_.resize(gradients.size());
  nodes_.assign(gradients.size(), OpenNode{});
  for (size_t k = 0; k < gradients.size(); ++k) {
    gradients_[k].facts.shift = gradients[k].facts.shift;
    gradients_[k].q.resize(chosen_.size());
    context.over_blocks(chosen_.size(), 16384, 1.0, [&](size_t begin, size_t end, size_t) {
      for (size_t i = begin; i < end; ++i) gradients_[k].q[i] = gradients[k].q[chosen_[i]];
    });
    nodes_[k].output = k;
    nodes_[k].end = narrow<Row>(places.size());
  }
  partition_.reset(gradients.size(), places, context);
  ordered_.begin_level(partition_, gradients_);
}

void RowSample::split(std::span<const SplitRule> splits, Context& context) {
  std::vector<NodeSplit> own;
  for (const SplitRule& rule : splits) own.push_back({&rule, nodes_[rule.node]});
  partition_.split(
      own,
      [&](const SplitRule& rule, std::span<const Row> rows, std::uint8_t* out) {
        if (!X_.is_sparse(rule.column)) return rows_.gather(X_.place(rule.column), rows, out);
        for (size_t i = 0; i < rows.size(); ++i)  // sparse columns are not in the sample
          out[i] = X_.bin(rule.column, chosen_[rows[i]]);
      },
      weights_, context);
  partition_.add_up(own, gradients_, weights_, context);
  nodes_.clear();
  for (const NodeSplit& s : own) {
    nodes_.push_back(s.left);
    nodes_.push_back(s.right);
  }
  ordered_.begin_level(partition_, gradients_);
}

// The sampling error: on a sample with this share of the node's rows, sqrt(2 gain) of a split is at least its value on
// all rows times sqrt(share), minus z times this deviation, except with probability exp(-z^2 / 2); the proof is in
// docs/algorithm.md. If the mean gradient is in the middle of the range of gradients, the deviation is half the range,
// as in Hoeffding's inequality. It is larger if the mean is near one end, because a few rows may be far away, and the
// sample may contain none of them.
double SampleBounds::deviation(const SampledCase& given, double share) {
  const double lowest = given.gradients.lowest, highest = given.gradients.highest, range = highest - lowest;
  const double mean = real(given.sums.gradient) / real(given.sums.rows);
  if (!(range > 0)) return 0.0;
  const double far = std::max(highest - mean, mean - lowest), aside = far - 0.5 * range;
  const double few = 0.25 * (1.0 - share) * range * range + aside * aside;
  const double pure = (1.0 - 0.5 * share) * range * range * far / (3.0 * range - far);
  return std::sqrt(1.001 * std::max(few, pure));  // the 0.001 covers the approximation of Chernoff's bound
}

double SampleBounds::rows_needed(const SampledCase& given) const {
  const double n = real(given.sums.rows), mean = real(given.sums.gradient) / n;
  const double spread = std::sqrt(std::max(real(given.sums.squares) / n - mean * mean, 0.0));
  const double limit = scaled(std::sqrt(2.0 * given.query.least), given.gradients.shift);
  if (!(limit > 0)) return kInfinity;
  const double length = (z_ * deviation(given, 0.0) + 3.5 * spread) / limit;
  return n * length * length;
}

// How many rows of the sample are searched first; 0 if the sample has too few of the node. The bound allows for few
// sizes only, so the size must not depend on what the sample showed before.
size_t RowSample::first_look(const Case& given) const {
  const double needed = bounds_.rows_needed(given);
  const size_t all = nodes_[given.query.node].rows();
  if (!(needed < real(all))) return 0;
  size_t count = truncated<size_t>(needed) + 1;
  if (given.query.again) {
    count = all;
  } else if (given.query.least > given.query.lowest) {
    size_t size = all;
    while (size / 4 >= std::max(count, all / 64)) size /= 4;
    count = size;
  }
  return std::max(count, std::min<size_t>(all, 64));
}

// sqrt(2 gain) on N rows is at most sqrt(N / m) times the sum of its value on m sampled rows and the sampling error.
void SampleBounds::judge(const SampledCase& given, size_t group, double sampled,
                         std::span<const ColumnSplit> splits) const {
  const double rows = real(given.sums.rows);
  const double factor = std::sqrt(rows / sampled);
  const double added = z_ * scaled(deviation(given, sampled / rows), -given.gradients.shift);
  std::uint8_t& alive = (*given.query.alive)[group];
  for (size_t lane = 0; lane < kLanes; ++lane) {
    if (!has_bit(alive, lane)) continue;
    const double seen = std::sqrt(2.0 * std::max(splits[lane].gain, 0.0));
    const double most = factor * (seen + added) * kRoundingSlack;
    if (0.5 * most * most <= given.query.limits[group * kLanes + lane]) clear_bit(alive, lane);
  }
}

// Searches the first counts[i] sampled rows of each node, and rules out columns; 0: the node is skipped.
void RowSample::look(std::span<const Case> cases, std::span<const size_t> counts, Context& context) {
  std::vector<OpenNode> nodes(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    if (counts[i] == 0) continue;
    nodes[i] = nodes_[cases[i].query.node];
    const NodeRows rows = ordered_.of(nodes[i], context);
    nodes[i].end = nodes[i].begin + narrow<Row>(counts[i]);
    nodes[i].sums.weight = narrow<std::int64_t>(counts[i]);
    nodes[i].sums.gradient = std::accumulate(rows.q, rows.q + counts[i], std::int64_t{0});
  }
  std::vector<GroupSearch::GroupPiece> pieces;
  std::vector<size_t> case_of;
  for (size_t g = 0; g < rows_.groups(); ++g)  // group by group for all nodes, so that a group stays in the cache
    for (size_t i = 0; i < cases.size(); ++i)
      if (counts[i] > 0 && (*cases[i].query.alive)[g]) {
        pieces.push_back({&nodes[i], g, (*cases[i].query.alive)[g], nullptr});
        case_of.push_back(i);
      }
  std::vector<std::array<ColumnSplit, kLanes>> splits(pieces.size());
  for (size_t p = 0; p < pieces.size(); ++p) pieces[p].splits = splits[p].data();
  search_.search_pieces(pieces, ordered_, gradients_, context);
  for (size_t p = 0; p < pieces.size(); ++p)
    bounds_.judge(cases[case_of[p]], pieces[p].group, pieces[p].node->rows(), splits[p]);
}

void RowSample::rule_out(std::span<ScreeningQuery> queries, std::span<const OpenNode> nodes, AllGradients gradients,
                         Context& context) {
  std::vector<Case> cases;
  std::vector<size_t> counts;
  for (ScreeningQuery& query : queries) {
    const OpenNode& node = nodes[query.node];
    cases.push_back({query, node.sums, gradients[node.output].facts});
    counts.push_back(first_look(cases.back()));
  }
  look(cases, counts, context);
  // The columns that are left are searched again in the whole sample, if it is much larger.
  for (size_t i = 0; i < cases.size(); ++i) {
    const size_t all = nodes_[cases[i].query.node].rows();
    counts[i] = counts[i] > 0 && all > 2 * counts[i] ? all : 0;
  }
  look(cases, counts, context);
}

}  // namespace frugal
