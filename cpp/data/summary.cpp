#include "data/summary.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "support/limits.hpp"

namespace frugal {
namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

// An integer key in the order of the numbers; -0 and 0 have the same key.
std::uint64_t key_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  return bits & kSign ? ~bits : bits | kSign;
}

double value_of(std::uint64_t key) {
  return std::bit_cast<double>(key & kSign ? key ^ kSign : ~key);
}

// A threshold that separates a < b: the middle, or a itself if there is no double between them.
double between(double a, double b) {
  double middle = 0.5 * a + 0.5 * b;
  return a <= middle && middle < b ? middle : a;
}

// Radix sort by eleven bits at a time, lowest first. Digits that are equal in all keys are skipped, so numbers that
// were float32 take half the passes. About four times as fast as std::sort. `both` holds the n entries and room for n
// more; returns the half with the sorted ones.
template <class Entry, class KeyOf>
Entry* radix_sort(size_t n, std::vector<Entry>& both, const KeyOf& key) {
  constexpr int kBits = 11, kDigits = 6, kBuckets = 1 << kBits;
  std::vector<std::uint32_t> counts(kDigits * kBuckets);
  Entry *entries = both.data(), *other = both.data() + n;
  auto digit = [&](const Entry& e, int d) { return (key(e) >> (d * kBits)) & (kBuckets - 1); };
  for (size_t i = 0; i < n; ++i)
    for (int d = 0; d < kDigits; ++d) ++counts[d * kBuckets + digit(entries[i], d)];
  for (int d = 0; d < kDigits; ++d) {
    std::uint32_t* count = counts.data() + d * kBuckets;
    if (count[digit(entries[0], d)] == n) continue;
    std::uint32_t at = 0;
    for (int b = 0; b < kBuckets; ++b) at += std::exchange(count[b], at);
    for (size_t i = 0; i < n; ++i) other[count[digit(entries[i], d)]++] = entries[i];
    std::swap(entries, other);
  }
  return entries;
}

// Sorts the first n entries by their keys, in `both` as above.
template <class Entry, class KeyOf>
Entry* sort_by_key(size_t n, std::vector<Entry>& both, const KeyOf& key) {
  if (n > kRadixSortRows) return radix_sort(n, both, key);
  std::sort(both.data(), both.data() + n, [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  return both.data();
}

}  // namespace

void Summary::add(std::span<const double> values, const std::int64_t* units, Spare& spare) {
  std::vector<Cell> found;
  auto gather = [&](std::uint64_t key, std::int64_t mass) {
    const std::uint64_t place = key >> dropped_;
    if (!found.empty() && found.back().key == place) {
      found.back().mass += mass;
      found.back().high = value_of(key);
    } else {
      found.push_back({place, value_of(key), value_of(key), mass});
    }
  };
  // Zeros are counted, not sorted: in many tables they are nearly all values.
  const std::uint64_t zero = key_of(0.0);
  std::int64_t zeros = 0;
  auto gather_zeros = [&] {
    if (zeros > 0) gather(zero, std::exchange(zeros, 0));
  };
  size_t n = 0;
  if (units == nullptr) {
    spare.keys.resize(2 * values.size());
    for (double v : values) {
      if (std::isnan(v)) continue;
      if (v == 0) {
        ++zeros;
      } else {
        spare.keys[n++] = key_of(v);
      }
    }
    found.reserve(n + 1);
    const std::uint64_t* sorted = sort_by_key(n, spare.keys, [](std::uint64_t key) { return key; });
    for (size_t i = 0; i < n;) {  // equal values together
      size_t j = i + 1;
      while (j < n && sorted[j] == sorted[i]) ++j;
      if (sorted[i] > zero) gather_zeros();
      gather(sorted[i], narrow<std::int64_t>(j - i));
      i = j;
    }
  } else {
    spare.weighted.resize(2 * values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i]) || units[i] <= 0) continue;
      if (values[i] == 0) {
        zeros += units[i];
      } else {
        spare.weighted[n++] = {key_of(values[i]), units[i]};
      }
    }
    found.reserve(n + 1);
    const auto* sorted = sort_by_key(n, spare.weighted, [](const auto& entry) { return entry.first; });
    for (size_t i = 0; i < n; ++i) {
      if (sorted[i].first > zero) gather_zeros();
      gather(sorted[i].first, sorted[i].second);
    }
  }
  gather_zeros();
  merge(found);
}

void Summary::add(double value, std::int64_t mass) {
  if (mass > 0 && !std::isnan(value)) merge({{key_of(value) >> dropped_, value + 0.0, value + 0.0, mass}});
}

void Summary::merge(const std::vector<Cell>& more) {
  if (cells_.empty()) {
    cells_ = more;
    return coarsen();
  }
  std::vector<Cell> all;
  all.reserve(cells_.size() + more.size());
  auto a = cells_.begin();
  auto b = more.begin();
  while (a != cells_.end() || b != more.end()) {
    if (b == more.end() || (a != cells_.end() && a->key < b->key)) {
      all.push_back(*a++);
    } else if (a == cells_.end() || b->key < a->key) {
      all.push_back(*b++);
    } else {
      all.push_back({a->key, std::min(a->low, b->low), std::max(a->high, b->high), a->mass + b->mass});
      ++a;
      ++b;
    }
  }
  cells_ = std::move(all);
  coarsen();
}

// Drops as few more bits as bring the number of cells down to `most_`.
void Summary::coarsen() {
  if (cells_.size() <= most_) return;
  std::vector<size_t> pairs_joined_by(65);  // neighbours that share a cell once this many bits are dropped
  for (size_t i = 0; i + 1 < cells_.size(); ++i)
    ++pairs_joined_by[index(std::bit_width(cells_[i].key ^ cells_[i + 1].key))];
  size_t left = cells_.size(), more = 0;
  while (left > most_) left -= pairs_joined_by[++more];
  drop(more);
}

void Summary::drop(size_t bits) {
  if (bits == 0) return;
  dropped_ += bits;
  std::vector<Cell> coarse;
  for (const Cell& c : cells_) {
    const std::uint64_t key = bits < 64 ? c.key >> bits : 0;
    if (!coarse.empty() && coarse.back().key == key) {
      coarse.back().high = c.high;
      coarse.back().mass += c.mass;
    } else {
      coarse.push_back({key, c.low, c.high, c.mass});
    }
  }
  cells_ = std::move(coarse);
}

std::vector<std::int64_t> Summary::packed() const {
  std::vector<std::int64_t> out{narrow<std::int64_t>(dropped_)};
  for (const Cell& c : cells_) {
    out.push_back(std::bit_cast<std::int64_t>(c.key));
    out.push_back(std::bit_cast<std::int64_t>(c.low));
    out.push_back(std::bit_cast<std::int64_t>(c.high));
    out.push_back(c.mass);
  }
  return out;
}

void Summary::add_packed(std::span<const std::int64_t> packed) {
  Summary other(most_);
  other.dropped_ = index(packed[0]);
  for (size_t i = 1; i + 3 < packed.size(); i += 4)
    other.cells_.push_back({std::bit_cast<std::uint64_t>(packed[i]), std::bit_cast<double>(packed[i + 1]),
                            std::bit_cast<double>(packed[i + 2]), packed[i + 3]});
  const size_t most = std::max(dropped_, other.dropped_);
  drop(most - dropped_);
  other.drop(most - other.dropped_);
  merge(other.cells_);
}

// Indices of the last cell of every bin but the last. A cell heavier than a bin gets a bin of its own, and the others
// share the remaining bins evenly.
std::vector<size_t> Summary::equal_weight_bins(size_t max_bins) const {
  std::int64_t total = 0;
  for (const auto& c : cells_) total += c.mass;
  auto heavy = [&](size_t i) { return real(cells_[i].mass) * real(max_bins) >= real(total); };
  std::int64_t light_left = 0, inside = 0;
  size_t light_bins = max_bins;  // at least 1
  auto use_bin = [&] { light_bins = std::max<size_t>(light_bins, 2) - 1; };
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (heavy(i)) {
      use_bin();
    } else {
      light_left += cells_[i].mass;
    }
  }
  std::vector<size_t> ends;
  for (size_t i = 0; i + 1 < cells_.size() && ends.size() + 1 < max_bins; ++i) {
    inside += cells_[i].mass;
    double aim = real(light_left) / real(light_bins);
    double have = real(inside);
    if (!(heavy(i) || have >= aim || (heavy(i + 1) && have >= 0.5 * aim))) continue;
    ends.push_back(i);
    light_left -= heavy(i) ? inside - cells_[i].mass : inside;
    if (!heavy(i)) use_bin();
    inside = 0;
  }
  return ends;
}

std::vector<double> Summary::cuts(size_t max_bins) const {
  std::vector<double> cuts;
  if (cells_.size() <= max_bins) {
    for (size_t i = 0; i + 1 < cells_.size(); ++i) cuts.push_back(between(cells_[i].high, cells_[i + 1].low));
  } else {
    for (size_t i : equal_weight_bins(max_bins)) cuts.push_back(between(cells_[i].high, cells_[i + 1].low));
  }
  return cuts;
}

}  // namespace frugal
