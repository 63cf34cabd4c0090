#include "engine/cuda/device_sample.hpp"

#include <algorithm>

#include "support/limits.hpp"
#include "support/mask.hpp"

namespace frugal::device {
namespace {

// Gains without constraints are bounds too.
TableFacts facts_of(const TableFacts& whole, size_t rows) {
  TableFacts facts = whole;
  facts.rows = facts.weight = narrow<std::int64_t>(rows);
  for (ColumnFacts& column : facts.columns) column.trend = 0;
  return facts;
}

}  // namespace

DeviceSample::DeviceSample(Queue& queue, const DeviceColumns& columns, const TableFacts& table, std::vector<Row> chosen)
    : queue_(queue),
      facts_(facts_of(table, chosen.size())),
      weights_(Weights::from({}, chosen.size(), false)),
      bounds_(table.columns.size(), kMissProbability),
      rows_(queue),
      count_(chosen.size()),
      columns_(queue, chosen.size()),
      partition_(queue, chosen.size()),
      search_(queue, facts_, weights_, nullptr, 1.0),
      q_(queue),
      sums_(queue) {
  std::sort(chosen.begin(), chosen.end());
  rows_.set(chosen);
  columns_.set(
      columns.all().columns(), 0, facts_, [&](size_t place) { return columns.all().bins_of(place); }, rows_.data());
}

void DeviceSample::begin_trees(const std::vector<DeviceGradients>& trees) {
  q_.make(trees.size() * count_);
  sums_.zeros(trees.size());
  trees_ = trees;
  for (size_t k = 0; k < trees.size(); ++k) {
    std::int32_t* q = q_.data() + k * count_;
    queue_.launch_over(Gather{rows_.data(), count_, trees[k].q, q, sums_.data() + k}, count_);
    trees_[k].q = q;
  }
  const std::vector<Word> sums = sums_.get(trees.size());
  for (size_t k = 0; k < trees.size(); ++k) trees_[k].facts.total = low_bits<std::int64_t>(sums[k]);
  const std::vector<NodeSums> roots = partition_.reset(trees_, {}, weights_, nullptr);
  level_ = {};
  for (size_t k = 0; k < trees.size(); ++k) {
    OpenNode root;
    root.output = k;
    root.end = narrow<Row>(count_);
    root.list = DevicePartition::kRoot;
    root.sums = roots[k];
    level_.nodes.push_back(root);
  }
}

void DeviceSample::start(std::span<const SplitRule> splits) {
  splits_.clear();
  for (const SplitRule& rule : splits) splits_.push_back({&rule, level_.nodes[rule.node]});
  partition_.start(splits_, [&](size_t column) { return columns_.bins_of(facts_.columns[column].place); }, nullptr);
}

void DeviceSample::finish() {
  partition_.finish(splits_);
  level_ = {};
  for (const auto& s : splits_) {
    level_.nodes.push_back(s.left);
    level_.nodes.push_back(s.right);
  }
}

void DeviceSample::rule_out(std::span<ScreeningQuery> queries, std::span<const OpenNode> nodes,
                            const std::vector<DeviceGradients>& trees) {
  std::vector<DeviceSearch::TilePiece> pieces;
  std::vector<size_t> query_of;
  std::vector<std::array<ColumnSplit, kTile>> splits;
  const size_t bytes_in_tile = kTile / kByteBits;
  for (size_t i = 0; i < queries.size(); ++i) {
    ScreeningQuery& query = queries[i];
    const OpenNode& own = level_.nodes[query.node];
    const SampledCase given{query, nodes[query.node].sums, trees[own.output].facts};
    if (!(bounds_.rows_needed(given) < real(own.rows()))) continue;
    for (size_t tile = 0; tile < columns_.tiles(); ++tile) {
      std::uint32_t wanted = 0;
      for (size_t b = 0; b < bytes_in_tile && tile * bytes_in_tile + b < query.alive->size(); ++b)
        wanted |= std::uint32_t{(*query.alive)[tile * bytes_in_tile + b]} << (b * kByteBits);
      if (wanted == 0) continue;
      pieces.push_back({&own, &columns_, tile, wanted, nullptr});
      query_of.push_back(i);
    }
  }
  splits.resize(pieces.size());
  for (size_t p = 0; p < pieces.size(); ++p) pieces[p].splits = splits[p].data();
  search_.search(pieces, {level_, partition_, trees_});
  for (size_t p = 0; p < pieces.size(); ++p) {
    ScreeningQuery& query = queries[query_of[p]];
    const SampledCase given{query, nodes[query.node].sums, trees[nodes[query.node].output].facts};
    for (size_t b = 0; b < bytes_in_tile; ++b)
      if ((pieces[p].wanted >> (b * kByteBits)) & 255)
        bounds_.judge(given, pieces[p].tile * bytes_in_tile + b, real(pieces[p].node->rows()),
                      std::span(splits[p]).subspan(b * kByteBits, kByteBits));
  }
}

}  // namespace frugal::device
