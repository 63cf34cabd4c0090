#include "engine/cpu/looked_rows.hpp"

#include <algorithm>
#include <bit>

namespace frugal {
namespace {

constexpr size_t kWordBits = 64, kChunk = 8192;

std::uint64_t bit(size_t place) {
  return std::uint64_t{1} << (place % kWordBits);
}

// Some rows of a node, and the columns that share a word.
struct Task {
  size_t node;  // among those asked for
  size_t word;
  std::span<const Row> rows;
};

}  // namespace

size_t LookedRows::place(size_t column) {
  if (place_[column] == 0) place_[column] = ++places_;
  if (places_ > words_.size() * kWordBits) words_.emplace_back(rows_);
  return place_[column] - 1;
}

void LookedRows::remember(std::span<const size_t> columns, std::span<const std::uint8_t> flags) {
  keep();
  for (size_t i = 0; i < columns.size(); ++i) {
    const size_t at = place(columns[i]);
    Words& words = words_[at / kWordBits];
    for (size_t r = 0; r < rows_; ++r)
      if (flags[i * rows_ + r]) words[r] |= bit(at);
  }
}

std::vector<std::int64_t> LookedRows::looked(std::span<const size_t> columns, Context& context) const {
  std::vector<std::int64_t> sums(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    if (place_[columns[i]] == 0) continue;
    const size_t at = place_[columns[i]] - 1;
    const Words& words = words_[at / kWordBits];
    for (size_t r = 0; r < rows_; ++r)
      if (words[r] & bit(at)) sums[i] += weights_.unit(r);
  }
  context.together().sum(sums, "rows that have looked");
  return sums;
}

void LookedRows::begin_trees(size_t trees, const DrawnRows& drawn, Context& context) {
  some_rows_ = !drawn.all();
  waiting_.clear();
  if (!some_rows_) return;
  std::vector<Row> rest;
  std::int64_t weight = 0;
  for (size_t r = 0, next = 0; r < rows_; ++r) {
    if (next < drawn.rows().size() && drawn.rows()[next] == r) {
      ++next;
      continue;
    }
    rest.push_back(narrow<Row>(r));
    weight += weights_.unit(r);
  }
  if (others_.table_rows() != rows_) others_ = RowPartition(rows_);
  others_.reset(trees, rest, context);
  std::array<std::int64_t, 2> sums{narrow<std::int64_t>(rest.size()), weight};
  context.together().sum(sums, "rows that were not drawn");
  for (size_t k = 0; k < trees; ++k) {
    OpenNode root;
    root.output = k;
    root.end = narrow<Row>(rest.size());
    root.sums.rows = sums[0];
    root.sums.weight = sums[1];
    waiting_.push_back(root);
  }
}

void LookedRows::route(std::span<const SplitRule> splits, std::span<const size_t> leaves,
                       const RowPartition::Bins& bins, Context& context) {
  std::vector<NodeSplit> node_splits;
  for (const SplitRule& rule : splits) node_splits.push_back({&rule, waiting_.at(rule.node)});
  others_.split(node_splits, bins, weights_, context);
  others_.add_up(node_splits, {}, weights_, context);
  std::vector<std::uint8_t> done(waiting_.size());
  for (const SplitRule& rule : splits) done[rule.node] = 1;
  for (size_t leaf : leaves) done.at(leaf) = 1;
  std::vector<OpenNode> next;
  for (const NodeSplit& s : node_splits) next.insert(next.end(), {s.left, s.right});
  for (size_t n = 0; n < done.size(); ++n)
    if (!done[n]) next.push_back(waiting_[n]);
  waiting_ = std::move(next);
}

std::vector<std::span<const Row>> LookedRows::rows_of(size_t node, std::span<const OpenNode> level,
                                                      const RowPartition& drawn) const {
  std::vector<std::span<const Row>> rows{drawn.rows(level[node])};
  if (some_rows_) rows.push_back(others_.rows(waiting_.at(node)));
  return rows;
}

// Few rows have not looked at a column that is used often, so their bits are gone through.
std::vector<std::int64_t> LookedRows::unseen(std::span<const size_t> nodes, std::span<const size_t> columns,
                                             std::span<const OpenNode> level, const RowPartition& drawn,
                                             Context& context) const {
  const size_t each = 1 + columns.size();
  std::vector<std::int64_t> out(nodes.size() * each);
  std::vector<std::uint64_t> asked(words_.size());
  for (size_t c : columns)
    if (place_[c] > 0) asked[(place_[c] - 1) / kWordBits] |= bit(place_[c] - 1);
  std::vector<Task> tasks;
  double work = 0.0;
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const std::span<const Row> rows : rows_of(nodes[i], level, drawn))
      for (size_t w = 0; w < words_.size(); ++w) {
        if (asked[w] == 0) continue;
        work += 4.0 * real(rows.size());
        for (size_t at = 0; at < rows.size(); at += kChunk)
          tasks.push_back({i, w, rows.subspan(at, std::min(kChunk, rows.size() - at))});
      }
  const size_t all = words_.size() * kWordBits;  // sums of each thread, by node and place
  std::vector<std::vector<std::int64_t>> sums(context.threads());
  context.parallel_for(tasks.size(), work, [&](size_t t, size_t thread) {
    const Task& task = tasks[t];
    if (sums[thread].empty()) sums[thread].resize(nodes.size() * all);
    std::int64_t* own = sums[thread].data() + task.node * all + task.word * kWordBits;
    const std::uint64_t* words = words_[task.word].data();
    for (Row row : task.rows)
      for (std::uint64_t bits = ~words[row] & asked[task.word]; bits != 0; bits &= bits - 1)
        own[std::countr_zero(bits)] += weights_.unit(row);
  });
  for (size_t i = 0; i < nodes.size(); ++i)
    for (size_t j = 0; j < columns.size(); ++j)
      for (const auto& own : sums)
        if (place_[columns[j]] > 0 && !own.empty()) out[i * each + 1 + j] += own[i * all + place_[columns[j]] - 1];
  context.together().sum(out, "rows that have not looked");
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::int64_t weight = level[nodes[i]].sums.weight + (some_rows_ ? waiting_.at(nodes[i]).sums.weight : 0);
    out[i * each] = weight;
    for (size_t j = 0; j < columns.size(); ++j)
      if (place_[columns[j]] == 0) out[i * each + 1 + j] = weight;
  }
  return out;
}

void LookedRows::look(size_t node, size_t column, std::span<const OpenNode> level, const RowPartition& drawn,
                      Context& context) {
  const size_t at = place(column);
  std::uint64_t* words = words_[at / kWordBits].data();
  for (const std::span<const Row> rows : rows_of(node, level, drawn))
    context.over_blocks(rows.size(), kChunk, 2.0, [&](size_t begin, size_t end, size_t) {
      for (size_t i = begin; i < end; ++i) words[rows[i]] |= bit(at);
    });
}

}  // namespace frugal
