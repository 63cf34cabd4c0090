#include "data/merging.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>

#include "support/limits.hpp"
#include "support/mixing.hpp"

namespace frugal {
namespace {

constexpr size_t kBlock = 4096;

inline std::uint64_t word_at(const Lanes& lanes, size_t group, size_t row) {
  std::uint64_t word;
  std::memcpy(&word, lanes.groups[group] + row * kLanes, sizeof word);
  return word;
}

std::vector<std::uint64_t> hashes_of(const BinnedMatrix& X, const Target& target, std::span<const double> raw,
                                     Context& context) {
  const Lanes lanes = X.lanes();
  const size_t n = X.rows();
  std::vector<std::uint64_t> hash(n);
  context.over_blocks(n, kBlock, real(lanes.groups.size() + 2), [&](size_t begin, size_t end, size_t) {
    for (size_t r = begin; r < end; ++r) hash[r] = mixed(std::bit_cast<std::uint64_t>(target.y[r]) + 1);
    for (size_t k = 1; k < target.columns; ++k)
      for (size_t r = begin; r < end; ++r) hash[r] = mixed(hash[r] ^ std::bit_cast<std::uint64_t>(target.of(k)[r]));
    for (size_t at = 0; at < raw.size(); at += n)
      for (size_t r = begin; r < end; ++r) hash[r] = mixed(hash[r] ^ std::bit_cast<std::uint64_t>(raw[at + r]));
    for (size_t g = 0; g < lanes.groups.size(); ++g)
      for (size_t r = begin; r < end; ++r) hash[r] = mixed(hash[r] * 3 + word_at(lanes, g, r));
  });
  for (size_t s = 0; s < X.sparse(); ++s) {  // a sum, because columns list different rows
    const auto column = X.listed(s);
    for (size_t i = 0; i < column.rows.size(); ++i) hash[column.rows[i]] += mixed((s << 8) + column.bins[i] + 1);
  }
  return hash;
}

// The share of rows that are different from each other, estimated from the rows whose mixed hash ends in zeros: equal
// rows have equal hashes, so all of them are in that sample or none.
double share_of_different(const std::vector<std::uint64_t>& hash) {
  const std::uint64_t ending = hash.size() > 64 * 1024 ? 63 : 0;
  std::vector<std::uint64_t> some;
  for (std::uint64_t h : hash)
    if ((mixed(h) & ending) == 0) some.push_back(h);
  if (some.empty()) return 1.0;
  std::sort(some.begin(), some.end());
  const auto all = real(some.size());
  some.erase(std::unique(some.begin(), some.end()), some.end());
  return real(some.size()) / all;
}

// Numbers hashes in the order of their first appearance. An open-addressing hash table.
class Numbering {
 public:
  explicit Numbering(size_t expected) : slots_(std::bit_ceil(4 * expected + 16), kNoRow) {}

  Row number(std::uint64_t hash) {
    if (4 * hashes_.size() > 3 * slots_.size()) grow();
    size_t at = place(hash);
    if (slots_[at] == kNoRow) {
      slots_[at] = narrow<Row>(hashes_.size());
      hashes_.push_back(hash);
    }
    return slots_[at];
  }

 private:
  size_t place(std::uint64_t hash) const {
    size_t at = mixed(hash) & (slots_.size() - 1);
    while (slots_[at] != kNoRow && hashes_[slots_[at]] != hash) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), kNoRow);
    for (Row i = 0; i < hashes_.size(); ++i) slots_[place(hashes_[i])] = i;
  }

  std::vector<Row> slots_;
  std::vector<std::uint64_t> hashes_;
};

// Whether every row is equal to the first row with the same hash (equal hashes only make that likely). `first` lists
// these rows and `number` has the place of each row's first one.
bool all_equal(const BinnedMatrix& X, const Target& target, std::span<const double> raw, std::span<const Row> first,
               std::span<const Row> number, Context& context) {
  const Lanes lanes = X.lanes();
  const size_t n = X.rows();
  auto same = [](double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); };
  std::atomic<bool> equal = true;
  context.over_blocks(n, kBlock, 2.0 * real(lanes.groups.size() + 1), [&](size_t from, size_t to, size_t) {
    std::uint64_t different = 0;
    for (size_t r = from; r < to; ++r) {
      const size_t other = first[number[r]];
      for (size_t k = 0; k < target.columns; ++k) different |= !same(target.of(k)[r], target.of(k)[other]);
      for (size_t at = 0; at < raw.size(); at += n) different |= !same(raw[at + r], raw[at + other]);
    }
    for (size_t g = 0; g < lanes.groups.size(); ++g)
      for (size_t r = from; r < to; ++r) different |= word_at(lanes, g, r) ^ word_at(lanes, g, first[number[r]]);
    if (different) equal = false;
  });
  // Both rows must be listed with the same bins, in the same number of columns.
  std::vector<std::uint32_t> listed(X.sparse() ? n : 0);
  for (size_t s = 0; s < X.sparse() && equal; ++s) {
    const auto column = X.listed(s);
    for (size_t i = 0; i < column.rows.size() && equal; ++i) {
      if (X.bin(X.sparse_column(s), first[number[column.rows[i]]]) != column.bins[i]) equal = false;
      ++listed[column.rows[i]];
    }
  }
  for (size_t r = 0; r < listed.size() && equal; ++r)
    if (listed[r] != listed[first[number[r]]]) equal = false;
  return equal;
}

}  // namespace

std::unique_ptr<MergedRows> merge_equal_rows(const BinnedMatrix& X, const Target& target, std::span<const double> raw,
                                             Context& context) {
  const size_t n = X.rows();
  if (n < kMergeLeastRows) return nullptr;
  const auto hash = hashes_of(X, target, raw, context);
  const double share = share_of_different(hash);
  if (share > 0.5) return nullptr;
  Numbering numbering(truncated<size_t>(share * real(n)));
  std::vector<Row> number(n);
  std::vector<Row> first;  // the first of equal rows stands for all of them
  for (Row r = 0; r < n; ++r) {
    number[r] = numbering.number(hash[r]);
    if (number[r] == first.size()) first.push_back(r);
  }
  if (!all_equal(X, target, raw, first, number, context)) return nullptr;
  auto merged = std::make_unique<MergedRows>();
  std::vector<size_t> columns(X.columns());
  std::iota(columns.begin(), columns.end(), size_t{0});
  merged->X = std::make_unique<BinnedMatrix>(X, columns, first, context);
  for (size_t k = 0; k < target.columns; ++k)
    for (Row r : first) merged->y.push_back(target.of(k)[r]);
  for (size_t at = 0; at < raw.size(); at += n)
    for (Row r : first) merged->raw.push_back(raw[at + r]);
  merged->weights.weighted = true;
  merged->weights.given = target.weights->given;
  merged->weights.rows = narrow<std::int64_t>(first.size());
  merged->weights.shift = target.weights->shift;
  merged->weights.total = target.weights->total;
  merged->weights.units.resize(first.size());
  for (size_t r = 0; r < n; ++r) merged->weights.units[number[r]] += target.weights->unit(r);
  return merged;
}

}  // namespace frugal
