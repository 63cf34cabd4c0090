#include "data/summary.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>
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

using Weighted = std::pair<std::uint64_t, std::int64_t>;

std::uint64_t key_in(std::uint32_t entry) {
  return entry;
}
const std::uint64_t& key_in(const std::uint64_t& entry) {
  return entry;
}
std::uint64_t& key_in(std::uint64_t& entry) {
  return entry;
}
const std::uint64_t& key_in(const Weighted& entry) {
  return entry.first;
}
std::uint64_t& key_in(Weighted& entry) {
  return entry.first;
}
std::int64_t mass_in(std::uint64_t) {
  return 1;
}
std::int64_t mass_in(const Weighted& entry) {
  return entry.second;
}

// Radix sort by bits [low, high) of the keys, at most eleven at a time. `both` holds the n entries and room for n more;
// returns the half with the sorted ones.
template <class Entry>
Entry* radix_sort(size_t n, Entry* both, int low, int high) {
  constexpr int kMostBits = 11, kMostDigits = 6;
  const int digits = std::max(1, (high - low + kMostBits - 1) / kMostBits), bits = (high - low + digits - 1) / digits;
  const size_t buckets = size_t{1} << bits;
  std::array<std::uint32_t, kMostDigits << kMostBits> counts;
  std::fill_n(counts.begin(), index(digits) * buckets, 0u);
  Entry *entries = both, *other = both + n;
  auto digit = [&](const Entry& e, int d) { return index(key_in(e) >> (low + d * bits)) & (buckets - 1); };
  for (size_t i = 0; i < n; ++i)
    for (int d = 0; d < digits; ++d) ++counts[index(d) * buckets + digit(entries[i], d)];
  for (int d = 0; d < digits; ++d) {
    std::uint32_t* count = counts.data() + index(d) * buckets;
    if (count[digit(entries[0], d)] == n) continue;
    std::uint32_t at = 0;
    for (size_t b = 0; b < buckets; ++b) at += std::exchange(count[b], at);
    for (size_t i = 0; i < n; ++i) other[count[digit(entries[i], d)]++] = entries[i];
    std::swap(entries, other);
  }
  return entries;
}

// Sorts entries by keys of at most this many bits. The first 33 bits tell nearly all keys apart: three passes, and what
// is equal in them is sorted by comparison.
template <class Entry>
Entry* sort_by_bits(size_t n, Entry* both, int bits) {
  constexpr int kFirst = 33;
  if (bits <= kFirst) return radix_sort(n, both, 0, bits);
  const int low = bits - kFirst;
  Entry* sorted = radix_sort(n, both, low, bits);
  for (size_t i = 0; i < n;) {
    size_t j = i + 1;
    while (j < n && key_in(sorted[j]) >> low == key_in(sorted[i]) >> low) ++j;
    if (j - i > 1)
      std::sort(sorted + i, sorted + j, [](const Entry& a, const Entry& b) { return key_in(a) < key_in(b); });
    i = j;
  }
  return sorted;
}

// Keys in as few bits as keep their order. Counted from zero, numbers lie between the least and the largest magnitude
// of either sign, and those that were float32 end in zeros: most columns of them need 29 bits.
class ShortKeys {
 public:
  template <class Entry>
  explicit ShortKeys(std::span<const Entry> entries) {
    std::uint64_t largest = 0, largest_negative = 0, differ = 0;
    const std::uint64_t first = magnitude(key_in(entries[0]));
    bool any_negative = false;
    for (const Entry& e : entries) {
      const std::uint64_t m = magnitude(key_in(e)), negative = key_in(e) < kSign;
      least_ = std::min(least_, m);
      largest = std::max(largest, m);
      largest_negative = std::max(largest_negative, m & -negative);
      differ |= m ^ first;
      any_negative |= negative != 0;
    }
    zeros_ = differ == 0 ? 0 : std::countr_zero(differ);
    negatives_ = any_negative ? ((largest_negative - least_) >> zeros_) + 1 : 0;
    bits_ = narrow<int>(std::bit_width(negatives_ + ((largest - least_) >> zeros_)));
  }

  int bits() const { return bits_; }
  std::uint64_t of(std::uint64_t key) const {
    const std::uint64_t m = (magnitude(key) - least_) >> zeros_;
    return key < kSign ? negatives_ - 1 - m : negatives_ + m;
  }
  std::uint64_t key(std::uint64_t of) const {
    const bool negative = of < negatives_;
    const std::uint64_t m = ((negative ? negatives_ - 1 - of : of - negatives_) << zeros_) + least_;
    return negative ? ~(kSign | m) : kSign | m;
  }

 private:
  static std::uint64_t magnitude(std::uint64_t key) { return (key < kSign ? ~key : key) & ~kSign; }

  std::uint64_t least_ = ~std::uint64_t{0};
  int zeros_ = 0, bits_ = 0;
  std::uint64_t negatives_ = 0;  // how many short keys come before those of positive numbers
};

// Sorts the first n entries by their keys; `both` has room for n more. Returns where the sorted ones begin.
template <class Entry>
Entry* sort_by_key(size_t n, std::vector<Entry>& both, std::vector<std::uint32_t>& spare) {
  Entry* entries = both.data();
  if (n <= kRadixSortRows) {
    std::sort(entries, entries + n, [](const Entry& a, const Entry& b) { return key_in(a) < key_in(b); });
    return entries;
  }
  const ShortKeys keys(std::span<const Entry>(entries, n));
  if constexpr (std::is_same_v<Entry, std::uint64_t>) {
    if (keys.bits() <= 32) {
      spare.resize(2 * n);
      for (size_t i = 0; i < n; ++i) spare[i] = low_bits<std::uint32_t>(keys.of(entries[i]));
      const std::uint32_t* sorted = sort_by_bits(n, spare.data(), keys.bits());
      for (size_t i = 0; i < n; ++i) entries[i] = keys.key(sorted[i]);
      return entries;
    }
  }
  for (size_t i = 0; i < n; ++i) key_in(entries[i]) = keys.of(key_in(entries[i]));
  Entry* sorted = sort_by_bits(n, entries, keys.bits());
  for (size_t i = 0; i < n; ++i) key_in(sorted[i]) = keys.key(key_in(sorted[i]));
  return sorted;
}

// How many more bits must be dropped to leave at most `most` of n cells; pairs_joined_by[b] neighbours share one once b
// bits are dropped.
size_t bits_to_drop(size_t n, size_t most, const std::array<size_t, 65>& pairs_joined_by) {
  size_t bits = 0;
  while (n > most) n -= pairs_joined_by[++bits];
  return bits;
}

}  // namespace

double between(double a, double b) {
  double middle = 0.5 * a + 0.5 * b;
  return a <= middle && middle < b ? middle : a;
}

void Summary::add(std::span<const double> values, const std::int64_t* units, Spare& spare) {
  // Zeros are counted, not sorted: in many tables they are nearly all values.
  std::int64_t zeros = 0;
  size_t n = 0;
  if (units == nullptr) {
    spare.keys.resize(2 * values.size());
    for (double v : values) {  // without branches: each is written, and few are kept
      spare.keys[n] = key_of(v);
      zeros += v == 0;
      n += v < 0 || v > 0;
    }
    add_sorted(std::span<const std::uint64_t>(sort_by_key(n, spare.keys, spare.short_keys), n), zeros);
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
    add_sorted(std::span<const Weighted>(sort_by_key(n, spare.weighted, spare.short_keys), n), zeros);
  }
}

// Bits that these values alone make too many are dropped before cells are made of them.
template <class Entry>
void Summary::add_sorted(std::span<const Entry> sorted, std::int64_t zeros) {
  std::array<size_t, 65> pairs_joined_by{};
  for (size_t i = 1; i < sorted.size(); ++i)
    ++pairs_joined_by[index(std::bit_width((key_in(sorted[i]) ^ key_in(sorted[i - 1])) >> dropped_))];
  const size_t different = sorted.size() - pairs_joined_by[0];
  drop(bits_to_drop(different, most_, pairs_joined_by));
  std::vector<Cell> found;
  found.reserve(std::min(different, most_) + 1);
  const std::uint64_t zero = key_of(0.0);
  for (size_t i = 0; i < sorted.size() || zeros > 0;) {
    std::uint64_t key = zero;
    std::int64_t mass = zeros;
    if (i == sorted.size() || (zeros > 0 && key_in(sorted[i]) > zero)) {
      zeros = 0;
    } else {
      key = key_in(sorted[i]);
      mass = mass_in(sorted[i++]);
    }
    const std::uint64_t place = key >> dropped_;
    if (!found.empty() && found.back().key == place) {
      found.back().mass += mass;
      found.back().high = value_of(key);
    } else {
      found.push_back({place, value_of(key), value_of(key), mass});
    }
  }
  merge(std::move(found));
}

void Summary::add(double value, std::int64_t mass) {
  if (mass > 0 && !std::isnan(value)) merge({{key_of(value) >> dropped_, value + 0.0, value + 0.0, mass}});
}

void Summary::merge(std::vector<Cell> more) {
  if (cells_.empty()) {
    cells_ = std::move(more);
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
  std::array<size_t, 65> pairs_joined_by{};
  for (size_t i = 0; i + 1 < cells_.size(); ++i)
    ++pairs_joined_by[index(std::bit_width(cells_[i].key ^ cells_[i + 1].key))];
  drop(bits_to_drop(cells_.size(), most_, pairs_joined_by));
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
  merge(std::move(other.cells_));
}

std::optional<std::vector<double>> Summary::distinct(size_t most) const {
  if (dropped_ > 0 || cells_.size() > most) return std::nullopt;
  std::vector<double> values;
  for (const Cell& c : cells_) values.push_back(c.low);
  return values;
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
