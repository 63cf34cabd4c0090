#include "engine/cuda/device_leaves.hpp"

#include <algorithm>
#include <bit>

#include "engine/cuda/device_limits.hpp"

namespace frugal::device {

std::vector<LeafSums> DeviceLeaves::sums(size_t output, std::span<const RowList> leaves,
                                         std::span<const OpenNode> nodes) {
  const std::vector<Task> tasks = cut(leaves, kLeafTaskRows);
  const Grid of_g(predictions_.largest_g(output), kLeafBits), of_h(predictions_.largest_h(output), kLeafBits);
  const size_t words = leaves.size() * LeafSum::kWords;
  parcel_.begin(leaves.size_bytes() + tasks.size() * sizeof(Task) + words * sizeof(Word));
  Word* there = parcel_.zeros(words);
  const LeafSum kernel{
      parcel_.add(leaves), parcel_.add<Task>(tasks), predictions_.g(output),       predictions_.h(output),
      on_device(of_g),     on_device(of_h),          predictions_.train().units(), there};
  parcel_.send();
  queue_.launch(kernel, tasks.size());
  const std::vector<Word> out = words_from(queue_, there, words);
  std::vector<LeafSums> sums;
  for (size_t l = 0; l < leaves.size(); ++l) {
    const Word* w = out.data() + l * LeafSum::kWords;
    sums.push_back({of_g.back(wide(w)), of_h.back(wide(w + kWideWords)), real(nodes[l].sums.weight)});
  }
  return sums;
}

void DeviceLeaves::add(size_t output, std::span<const RowList> leaves, std::span<const double> values) {
  const std::vector<Task> tasks = cut(leaves, kLeafTaskRows);
  parcel_.begin(leaves.size_bytes() + tasks.size() * sizeof(Task) + values.size_bytes());
  const AddLeaves kernel{parcel_.add(leaves), parcel_.add<Task>(tasks), parcel_.add(values),
                         predictions_.train().raw(output)};
  parcel_.send();
  queue_.launch(kernel, tasks.size());
}

WalkNode DeviceLeaves::node_of(const Tree& tree, size_t node, size_t value_bins) {
  WalkNode out{nullptr, 0, tree.left[node], {}, tree.value[node]};
  for (size_t b = 0; b < kCells; ++b) {
    bool left;
    if (b == value_bins) {
      left = tree.missing_left[node] != 0;
    } else {
      left = tree.by_levels(node) ? contains(tree.levels(node), b) : b <= tree.bin[node];
    }
    if (left) out.goes_left[b / 64] |= Word{1} << (b % 64);
  }
  return out;
}

void DeviceLeaves::walk(std::span<const WalkNode> nodes, const RowList& rows, double* raw) {
  if (rows.count > 0) queue_.launch_over(Walk{nodes_.set(nodes), rows, raw}, rows.count);
}

Sought DeviceLeaves::sought(size_t output, std::span<const RowList> lists, size_t& tasks) {
  const std::vector<Task> cut_tasks = cut(lists, kLeafTaskRows);
  tasks = cut_tasks.size();
  DeviceRows& train = predictions_.train();
  return {
      lists_.set(lists), tasks_.set(cut_tasks), train.y(), train.raw(output), train.units(), nullptr, 0, nullptr, 0.0};
}

// As weighted_quantiles (loss/losses.cpp) for tables in parts: the key is found eight bits at a time.
std::vector<double> DeviceLeaves::find(const Sought& sought, size_t lists, size_t tasks, double level) {
  std::vector<QuantileSearch> found(lists);
  std::vector<Word> prefixes(lists);
  for (int left = QuantileSearch::kKeyBits; left > 0; left -= QuantileSearch::kDigitBits) {
    queue_.launch(Digits{sought, keys_.set(prefixes), left, words_.zeros(lists * Digits::kDigits)}, tasks);
    const std::vector<Word> out = words_.get(lists * Digits::kDigits);
    const std::vector<std::int64_t> weights(out.begin(), out.end());
    for (size_t l = 0; l < lists; ++l) {
      found[l].narrow_down(weights.data() + l * Digits::kDigits, left, level);
      prefixes[l] = found[l].prefix;
    }
  }
  queue_.launch(Nearest{sought, keys_.set(prefixes), words_.zeros(2 * lists)}, tasks);
  const std::vector<Word> near = words_.get(2 * lists);
  std::vector<double> out;
  for (size_t l = 0; l < lists; ++l) {
    const Word next = near[2 * l + 1];
    out.push_back(found[l].value(low_bits<std::int64_t>(near[2 * l]), next != 0, ~next));
  }
  return out;
}

std::vector<double> DeviceLeaves::quantiles(size_t output, std::span<const RowList> leaves, double level) {
  size_t tasks = 0;
  const Sought of_rows = sought(output, leaves, tasks);
  return find(of_rows, leaves.size(), tasks, level);
}

double DeviceLeaves::line_quantile(size_t output, const RowList& rows, const Bins& bins, const std::int16_t* scores,
                                   double intercept, double level) {
  size_t tasks = 0;
  Sought of_rows = sought(output, {&rows, 1}, tasks);
  of_rows.bins = bins.first;
  of_rows.step = bins.step;
  of_rows.scores = scores;
  of_rows.intercept = intercept;
  queue_.launch(Sides{of_rows, words_.zeros(2)}, tasks);
  const std::vector<Word> sides = words_.get(2);
  const auto above = low_bits<std::int64_t>(sides[0]), below = low_bits<std::int64_t>(sides[1]);
  const double all = real(above + below);
  if (!(all > 0)) return 0.0;
  return find(of_rows, 1, tasks, (real(above) * level + real(below) * (1.0 - level)) / all)[0];
}

// The scores of all bins of a column; that of missing values, the last one, is zero.
void DeviceLines::prepare() {
  if (!scores_.empty()) return;
  const Thresholds& thresholds = X_.thresholds();
  if (thresholds.scores.empty()) throw std::invalid_argument("The bins have no scores, which lines need.");
  std::vector<std::int16_t> tables;
  for (size_t c = 0; c < X_.columns(); ++c) {
    const auto scores = thresholds.scores_of(c);
    tables.insert(tables.end(), scores.begin(), scores.end());
    tables.push_back(0);
  }
  scores_.set(tables);
}

const std::int16_t* DeviceLines::scores_of(size_t column) {
  prepare();
  return scores_.data() + X_.thresholds().offsets[column] + 2 * column;
}

// From histograms of the rows, tile by tile.
std::vector<Word> DeviceLines::dots(std::span<const size_t> columns, const RowList& rows) {
  prepare();
  const TiledColumns& all = columns_.all();
  const TableFacts& table = search_.table();
  std::vector<std::uint32_t> wanted(all.tiles());
  for (size_t c : columns)
    wanted[table.columns[c].place / kTile] |= std::uint32_t{1} << (table.columns[c].place % kTile);
  std::vector<Word> out(columns.size() * Dot::kWords);
  for (size_t first = 0; first < all.tiles(); first += kPiecesAtOnce) {
    const size_t end = std::min(all.tiles(), first + kPiecesAtOnce);
    std::int64_t* cells = search_.scratch(end - first);
    std::vector<HistogramJob> builds;
    for (size_t tile = first; tile < end; ++tile)
      if (wanted[tile])
        builds.push_back(search_.job_of(all, tile, wanted[tile], rows, cells + (tile - first) * kTileWords));
    search_.build(builds);
    std::vector<DotJob> jobs;
    std::vector<size_t> places;
    for (size_t i = 0; i < columns.size(); ++i) {
      const ColumnFacts& column = table.columns[columns[i]];
      const size_t tile = column.place / kTile;
      if (tile < first || tile >= end) continue;
      jobs.push_back({cells + (tile - first) * kTileWords + 2 * (column.place % kTile), scores_of(columns[i]),
                      narrow<std::uint32_t>(column.cells())});
      places.push_back(i);
    }
    if (jobs.empty()) continue;
    queue_.launch(Dot{jobs_.set(jobs), words_.zeros(jobs.size() * Dot::kWords)}, jobs.size());
    const std::vector<Word> found = words_.get(jobs.size() * Dot::kWords);
    for (size_t j = 0; j < jobs.size(); ++j)
      std::copy_n(found.data() + j * Dot::kWords, Dot::kWords, out.data() + places[j] * Dot::kWords);
  }
  return out;
}

std::vector<ScoreSums> DeviceLines::sums(std::span<const size_t> columns, const RowList& rows) {
  const std::vector<Word> words = dots(columns, rows);
  std::vector<ScoreSums> out;
  for (size_t i = 0; i < columns.size(); ++i) {
    const Word* w = words.data() + i * Dot::kWords;
    out.push_back({low_bits<std::int64_t>(wide(w)), wide(w + kWideWords)});
  }
  return out;
}

std::vector<Int128> DeviceLines::gradients(std::span<const size_t> columns, const RowList& rows) {
  const std::vector<Word> words = dots(columns, rows);
  std::vector<Int128> out;
  for (size_t i = 0; i < columns.size(); ++i) out.push_back(wide(words.data() + i * Dot::kWords + 2 * kWideWords));
  return out;
}

LineSums DeviceLines::line(size_t column, size_t output, const RowList& rows, DevicePredictions& predictions) {
  const Grid of_g(predictions.largest_g(output), kLeafBits), of_h(predictions.largest_h(output), kLeafBits);
  const Bins bins = columns_.bins_of(column);
  queue_.launch_over(
      LineSum{rows, bins.first, bins.step, scores_of(column), predictions.g(output), predictions.h(output),
              on_device(of_g), on_device(of_h), predictions.train().units(), words_.zeros(LineSum::kSums * kWideWords)},
      rows.count);
  const std::vector<Word> out = words_.get(LineSum::kSums * kWideWords);
  auto sum = [&](size_t number) { return wide(out.data() + number * kWideWords); };
  auto steps = [](double v, int times) { return scaled(v, -times * kScoreBits); };
  return {of_g.back(sum(0)), steps(of_g.back(sum(1)), 1), of_h.back(sum(2)), steps(of_h.back(sum(3)), 1),
          steps(of_h.back(sum(4)), 2)};
}

std::vector<double> DeviceLines::curvatures(std::span<const size_t> columns, size_t output, const RowList& rows,
                                            DevicePredictions& predictions) {
  constexpr int kCurvatureBits = 23, kCoarseBits = 4;  // as engine/cpu/lines.cpp
  const Grid grid(predictions.largest_h(output), kCurvatureBits);
  const size_t size = columns.size() + 1, squares = (size + Curvature::kSide - 1) / Curvature::kSide;
  std::vector<CurvatureColumn> all{{nullptr, nullptr, 0}};
  for (size_t c : columns) {
    const Bins bins = columns_.bins_of(c);
    all.push_back({bins.first, scores_of(c), bins.step});
  }
  const size_t words = size * size * kWideWords,
               blocks = (rows.count + Curvature::kBlockRows - 1) / Curvature::kBlockRows;
  queue_.launch(
      Curvature{curvature_columns_.set(all), narrow<std::uint32_t>(size), narrow<std::uint32_t>(squares), rows,
                predictions.h(output), on_device(grid), predictions.train().units(), words_.zeros(words)},
      squares * squares * blocks);
  const std::vector<Word> found = words_.get(words);
  std::vector<double> out;
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j <= i; ++j)
      out.push_back(
          scaled(grid.back(wide(found.data() + (i * size + j) * kWideWords)), -2 * (kScoreBits - kCoarseBits)));
  return out;
}

void DeviceLines::add(const Bins& bins, size_t column, size_t rows, double value, double slope, double* raw) {
  queue_.launch_over(AddLine{bins.first, bins.step, scores_of(column), rows, value, slope, raw}, rows);
}

}  // namespace frugal::device
