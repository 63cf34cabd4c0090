#include "engine/cuda/device_partition.hpp"

#include <algorithm>

#include "engine/cuda/device_limits.hpp"

namespace frugal::device {

void bits_of(const SplitRule& rule, Word* bits) {
  std::fill_n(bits, kCells / 64, Word{0});
  for (size_t b = 0; b < kCells; ++b) {
    const bool left = rule.listed ? rule.goes_left[b] : b <= rule.bin || (rule.missing_left && b == rule.missing_bin);
    if (left) bits[b / 64] |= Word{1} << (b % 64);
  }
}

std::vector<NodeSums> DevicePartition::reset(const std::vector<DeviceGradients>& trees, const RowDraw& draw,
                                             const Weights& weights, const std::int64_t* units) {
  trees_ = trees;
  draw_ = draw;
  root_ = others_ = {nullptr, nullptr, 0, narrow<Row>(rows_), 0};
  std::vector<NodeSums> sums;
  if (draw.all()) {
    others_.count = 0;
    for (const DeviceGradients& tree : trees)
      sums.push_back({weights.rows, weights.total, tree.facts.total, tree.squares});
    return sums;
  }
  drawn_.make(rows_);
  std::vector<SplitJob> jobs;
  for (const DeviceGradients& tree : trees) {  // every tree writes the same rows; their order does not matter
    SplitJob job{root_, nullptr, 0, {}, draw.key, draw.share, drawn_.data(), nullptr, nullptr};
    job.from.q = tree.q;
    jobs.push_back(job);
    run({&jobs.back(), 1}, units);
    sums.push_back(left_sums(1)[0]);
  }
  root_.rows = others_.rows = drawn_.data();
  root_.count = narrow<Row>(sums[0].rows);
  others_.first = root_.count;
  others_.count = narrow<Row>(rows_) - root_.count;
  return sums;
}

RowList DevicePartition::rows_of(const OpenNode& node) const {
  if (node.list == kRoot) {
    RowList list = root_;
    list.q = trees_[node.output].q;
    return list;
  }
  const Lists& lists = lists_[node.output];
  return {lists.rows[node.list].data(), lists.q[node.list].data(), node.begin, node.rows(), 1};
}

void DevicePartition::make_lists() {
  while (lists_.size() < trees_.size()) {
    Lists own{{Buffer<Row>(queue_, rows_), Buffer<Row>(queue_, rows_)},
              {Buffer<std::int32_t>(queue_, rows_), Buffer<std::int32_t>(queue_, rows_)}};
    lists_.push_back(std::move(own));
  }
}

void DevicePartition::run(std::span<const SplitJob> jobs, const std::int64_t* units) {
  std::vector<RowList> from;
  for (const SplitJob& job : jobs) from.push_back(job.from);
  const std::vector<Task> tasks = cut(from, kSplitTaskRows);
  const size_t words = jobs.size() * Split::kWords;
  parcel_.begin(jobs.size_bytes() + tasks.size() * sizeof(Task) + words * sizeof(Word));
  Word* sums = parcel_.zeros(words);
  const SplitJob* there = parcel_.add(jobs);
  for (size_t i = 0; i < jobs.size(); ++i) parcel_.here(there)[i].sums = sums + i * Split::kWords;
  const Task* tasks_there = parcel_.add<Task>(tasks);
  parcel_.send();
  queue_.launch(Split{there, tasks_there, units}, tasks.size());
  sums_ = sums;
}

std::vector<NodeSums> DevicePartition::left_sums(size_t jobs) {
  const std::vector<Word> out = words_from(queue_, sums_, jobs * Split::kWords);
  std::vector<NodeSums> sums;
  for (size_t i = 0; i < jobs; ++i) {
    const Word* w = out.data() + i * Split::kWords;
    sums.push_back({low_bits<std::int64_t>(w[Split::kLeft]), low_bits<std::int64_t>(w[Split::kWeight]),
                    low_bits<std::int64_t>(w[Split::kGradient]), wide(w + Split::kSquares)});
  }
  return sums;
}

void DevicePartition::start(std::span<const NodeSplit> splits, const BinsOf& bins_of, const std::int64_t* units) {
  if (splits.empty()) return;
  make_lists();
  std::vector<SplitJob> jobs;
  for (const NodeSplit& s : splits) {
    const Bins bins = bins_of(s.rule->column);
    const size_t to = s.node.list == 0 ? 1 : 0;
    Lists& lists = lists_[s.node.output];
    SplitJob job{rows_of(s.node),
                 bins.first,
                 bins.step,
                 {},
                 0,
                 0.0,
                 lists.rows[to].data() + s.node.begin,
                 lists.q[to].data() + s.node.begin,
                 nullptr};
    bits_of(*s.rule, job.left);
    jobs.push_back(job);
  }
  run(jobs, units);
}

void DevicePartition::finish(std::span<NodeSplit> splits) {
  if (splits.empty()) return;
  const std::vector<NodeSums> left = left_sums(splits.size());
  for (size_t i = 0; i < splits.size(); ++i) {
    NodeSplit& s = splits[i];
    const NodeSums& all = s.node.sums;
    s.left = s.right = s.node;
    s.left.range = s.right.range = {};
    s.left.list = s.right.list = s.node.list == 0 ? 1 : 0;
    s.left.end = s.right.begin = s.node.begin + narrow<Row>(left[i].rows);
    s.left.sums = left[i];
    s.right.sums = {all.rows - left[i].rows, all.weight - left[i].weight, all.gradient - left[i].gradient,
                    all.squares - left[i].squares};
  }
}

}  // namespace frugal::device
