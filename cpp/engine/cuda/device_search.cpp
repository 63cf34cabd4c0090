#include "engine/cuda/device_search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/cuda/device_limits.hpp"

namespace frugal::device {
namespace {

// The next larger float.
float at_least(double v) {
  using Limits = std::numeric_limits<float>;
  return v < double{Limits::max()} ? std::nextafter(static_cast<float>(v), Limits::infinity()) : Limits::infinity();
}

ColumnSplit split_of(const FoundSplit& found) {
  ColumnSplit split{found.gain, narrow<Bin>(found.bin), MissingSide::unseen};
  if (found.missing == 1) split.missing = MissingSide::left;
  if (found.missing == 2) split.missing = MissingSide::right;
  split.reach = found.reach > 0 ? at_least(found.reach) : 0.0f;
  return split;
}

}  // namespace

DeviceSearch::DeviceSearch(Queue& queue, const TableFacts& table, const Weights& weights, const std::int64_t* units,
                           double min_weight)
    : queue_(queue),
      table_(table),
      weights_(weights),
      units_(units),
      min_weight_(min_weight),
      parcel_(queue),
      found_(queue),
      scratch_(queue) {}

std::int64_t* DeviceSearch::scratch(size_t tiles) {
  return scratch_.zeros(tiles * kTileWords);
}

// Only the part of the tile that holds the wanted columns is read: 8 or 16 neighbours, or all.
HistogramJob DeviceSearch::job_of(const TiledColumns& columns, size_t tile, std::uint32_t wanted, const RowList& rows,
                                  std::int64_t* cells) const {
  std::uint32_t width = columns.width(tile), first = 0;
  while (width > 8) {
    const std::uint32_t half = width / 2, low = ((std::uint32_t{1} << half) - 1) << first;
    if ((wanted & ~low) == 0) {
      width = half;
    } else if ((wanted & (low | ((std::uint32_t{1} << first) - 1))) == 0) {
      width = half;
      first += half;
    } else {
      break;
    }
  }
  std::uint32_t most = 1;
  for (size_t lane = 0; lane < kTile; ++lane)
    if ((wanted >> lane) & 1)
      most = std::max(most, narrow<std::uint32_t>(columns.facts_of(tile * kTile + lane, table_).cells()));
  return {rows, columns.bins(tile) + first, columns.width(tile), width, wanted >> first,
          most, cells + 2 * size_t{first}};
}

// The rows of all jobs are shared out evenly.
std::vector<Task> DeviceSearch::tasks_of(std::span<const HistogramJob> jobs) const {
  size_t all = 0;
  for (const HistogramJob& job : jobs) all += size_t{job.rows.count} * job.width / kTile;
  const size_t at_once = queue_.multiprocessors() * (units_ ? 1 : 3);
  const size_t share = std::max(kLeastHistogramRows, (all + at_once - 1) / at_once);
  std::vector<Task> tasks;
  for (size_t j = 0; j < jobs.size(); ++j) {
    const size_t rows = jobs[j].rows.count, most = std::min<size_t>(share * kTile / jobs[j].width, kHistogramRows);
    const size_t parts = (rows + most - 1) / most;
    for (size_t p = 0; p < parts; ++p)
      tasks.push_back({narrow<std::uint32_t>(j), narrow<std::uint32_t>(rows * p / parts),
                       narrow<std::uint32_t>(rows * (p + 1) / parts)});
  }
  return tasks;
}

void DeviceSearch::run(std::span<const HistogramJob> jobs, std::span<ScanJob> scans, size_t columns,
                       std::span<ColumnSplit* const> out) {
  const std::vector<Task> tasks = tasks_of(jobs);
  const size_t splits = scans.size() * columns;
  if (splits > 0) found_.make(splits);
  for (size_t j = 0; j < scans.size(); ++j) scans[j].out = found_.data() + j * columns;
  parcel_.begin(jobs.size_bytes() + tasks.size() * sizeof(Task) + scans.size_bytes());
  const HistogramJob* jobs_there = parcel_.add(jobs);
  const Task* tasks_there = parcel_.add<Task>(tasks);
  const ScanJob* scans_there = parcel_.add<ScanJob>(scans);
  parcel_.send();
  if (!tasks.empty() && units_) {
    queue_.launch(WeightedHistogram{jobs_there, tasks_there, units_}, tasks.size());
  } else if (!tasks.empty()) {
    queue_.launch(Histogram{jobs_there, tasks_there}, tasks.size());
  }
  if (splits == 0) return;
  queue_.launch(Scan{scans_there, narrow<std::uint32_t>(columns), min_weight_}, splits);
  const std::vector<FoundSplit> found = found_.get(splits);
  for (size_t j = 0; j < scans.size(); ++j)
    for (size_t c = 0; c < columns; ++c)
      if (columns > kTile || (scans[j].wanted >> c) & 1) out[j][c] = split_of(found[j * columns + c]);
}

ScanJob DeviceSearch::scan_of(const OpenNode& node, const SearchedLevel& at) const {
  ScanJob job{};
  job.gradient = node.sums.gradient;
  job.weight = node.sums.weight;
  job.factor = scaled(0.5, -2 * at.trees[node.output].facts.shift - weights_.shift) / real(node.sums.weight);
  job.low = node.range.low;
  job.high = node.range.high;
  job.at_root = node.sums.weight == weights_.total;
  job.wanted = ~std::uint32_t{0};
  return job;
}

void DeviceSearch::search(std::span<const TilePiece> pieces, const SearchedLevel& at) {
  for (size_t begin = 0; begin < pieces.size(); begin += kPiecesAtOnce) {
    const auto some = pieces.subspan(begin, std::min(kPiecesAtOnce, pieces.size() - begin));
    std::int64_t* cells = scratch(some.size());
    std::vector<HistogramJob> jobs;
    std::vector<ScanJob> scans;
    std::vector<ColumnSplit*> out;
    for (size_t i = 0; i < some.size(); ++i) {
      const TilePiece& piece = some[i];
      std::int64_t* own = cells + i * kTileWords;
      jobs.push_back(job_of(*piece.columns, piece.tile, piece.wanted, at.partition.rows_of(*piece.node), own));
      ScanJob job = scan_of(*piece.node, at);
      job.cells = own;
      job.columns = piece.columns->facts() + piece.tile * kTile;
      job.wanted = piece.wanted;
      scans.push_back(job);
      out.push_back(piece.splits);
    }
    run(jobs, scans, kTile, out);
  }
}

// Memory of the right size is kept: to get some from the device takes as long as a tree.
void DevicePool::forget() {
  if (slot_words_ != words()) slots_.clear();
  slot_words_ = words();
  taken_.assign(slots_.size(), 0);
  kept_.clear();
  kept_before_.clear();
}

void DevicePool::begin_level(const Level& level) {
  kept_before_ = std::move(kept_);
  kept_.assign(level.nodes.size(), kNone);
  std::fill(taken_.begin(), taken_.end(), 0);
  for (const Siblings& pair : level.pairs)
    if (const size_t slot = kept_of_parent(pair); slot != kNone) taken_[slot] = 1;
  for (const auto& [node, before] : level.waiting) {
    if (before >= kept_before_.size() || kept_before_[before] == kNone) continue;
    kept_[node] = kept_before_[before];
    taken_[kept_[node]] = 1;
  }
}

// At least the four that a pair may need beside its parent's.
size_t DevicePool::most_slots() const {
  return std::max<size_t>(6, kKeptBytes / (words() * sizeof(std::int64_t)));
}

size_t DevicePool::take() {
  size_t slot = 0;
  while (slot < taken_.size() && taken_[slot]) ++slot;
  if (slot == taken_.size()) {
    if (slots_.size() >= most_slots()) return kNone;
    slots_.emplace_back(search_.queue(), words());
    taken_.push_back(0);
  }
  taken_[slot] = 1;
  return slot;
}

// Memory for the histograms of a pair; false: there is none left. The larger sibling takes its parent's.
bool DevicePool::take_for(Task& task, bool deeper) {
  const size_t parent = kept_of_parent(*task.pair);
  task.subtract = task.large_wanted && parent != kNone;
  if (task.small_wanted || task.subtract) task.small = take();
  if (task.large_wanted) task.large = task.subtract ? parent : take();
  const bool enough =
      (task.small != kNone || !(task.small_wanted || task.subtract)) && (task.large != kNone || !task.large_wanted);
  if (!enough) {
    if (task.small != kNone) taken_[task.small] = 0;
    if (task.large != kNone && !task.subtract) taken_[task.large] = 0;
    task.small = task.large = kNone;
    return false;
  }
  const size_t in_use = index(std::count(taken_.begin(), taken_.end(), 1));
  const bool keep = deeper && in_use + 4 <= most_slots();  // so that every pair finds room
  if (keep && task.small_wanted) kept_[task.pair->small] = task.small;
  if (keep && task.large_wanted) kept_[task.pair->large] = task.large;
  if (task.subtract) kept_before_[task.pair->parent] = kNone;  // it will be overwritten
  return true;
}

// Those that are not kept for the next level are free again.
void DevicePool::release(std::span<const Task> tasks) {
  auto free = [&](size_t slot) {
    if (slot != kNone && std::find(kept_.begin(), kept_.end(), slot) == kept_.end()) taken_[slot] = 0;
  };
  for (const Task& task : tasks) {
    free(task.small);
    free(task.large);
  }
}

void DevicePool::run(std::span<const Task> tasks, const SearchedLevel& at, std::span<ColumnSplit> splits) {
  const size_t columns = columns_.columns().size();
  std::vector<HistogramJob> jobs;
  std::vector<ScanJob> scans;
  std::vector<ColumnSplit*> out;
  auto add_build = [&](size_t node, size_t slot) {
    search_.queue().zero(slots_[slot].data(), words() * sizeof(std::int64_t));
    for (size_t tile = 0; tile < columns_.tiles(); ++tile) {
      const size_t count = std::min<size_t>(kTile, columns - tile * kTile);
      jobs.push_back(search_.job_of(columns_, tile, low_bits<std::uint32_t>((std::uint64_t{1} << count) - 1),
                                    at.partition.rows_of(at.level.nodes[node]),
                                    slots_[slot].data() + tile * kTileWords));
    }
  };
  auto add_scan = [&](size_t node, size_t slot, size_t minus) {
    ScanJob job = search_.scan_of(at.level.nodes[node], at);
    job.cells = slots_[slot].data();
    if (minus != kNone) {
      job.minus = slots_[minus].data();
      job.store = slots_[slot].data();
    }
    job.columns = columns_.facts();
    scans.push_back(job);
    out.push_back(splits.data() + node * columns);
  };
  for (const Task& task : tasks) {
    if (task.small != kNone) add_build(task.pair->small, task.small);
    if (task.large != kNone && !task.subtract) add_build(task.pair->large, task.large);
    if (task.small_wanted) add_scan(task.pair->small, task.small, kNone);
    if (task.large_wanted) add_scan(task.pair->large, task.large, task.subtract ? task.small : kNone);
  }
  search_.run(jobs, scans, columns, out);
}

// As many pairs at once as there is memory for.
void DevicePool::search(const SearchedLevel& at, std::span<const std::uint8_t> wanted, bool deeper,
                        std::span<ColumnSplit> splits) {
  if (columns_.columns().empty()) return;
  std::vector<Task> tasks;
  auto finish = [&] {
    if (tasks.empty()) return false;
    run(tasks, at, splits);
    release(tasks);
    tasks.clear();
    return true;
  };
  for (const Siblings& pair : at.level.pairs) {
    Task task{&pair, wanted[pair.small] != 0, pair.large != kNone && wanted[pair.large], false};
    if (!task.small_wanted && !task.large_wanted) continue;
    while (!take_for(task, deeper))
      if (!finish()) throw OutOfDeviceMemory("The GPU has no room for histograms of so many columns.");
    tasks.push_back(task);
  }
  finish();
}

}  // namespace frugal::device
