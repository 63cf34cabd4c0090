#include "support/together.hpp"

#include <algorithm>
#include <array>

namespace frugal {
namespace {

class Alone final : public Together {
 public:
  size_t part() const override { return 0; }
  size_t parts() const override { return 1; }
  void sum(std::span<std::int64_t>, const char*) override {}
  void largest(std::span<double>, const char*) override {}
};

// A 128-bit number is sent as four words of 32 bits, so that sums over parts can't overflow 64 bits.
constexpr size_t kWords = 4;
using Words = std::array<std::int64_t, kWords>;

Words words_of(Int128 v) {
  Words words;
  for (size_t w = 0; w < kWords; ++w) {
    words[w] = w + 1 < kWords ? low_bits<std::uint32_t>(v) : low_bits<std::int64_t>(v);
    v >>= 32;
  }
  return words;
}

Int128 from_words(const std::int64_t* words) {
  Int128 v = 0;
  for (size_t w = kWords; w-- > 0;) v = v * (Int128{1} << 32) + words[w];
  return v;
}

}  // namespace

Together& alone() {
  static Alone alone;
  return alone;
}

std::int64_t sum_of(Together& together, std::int64_t value, const char* what) {
  together.sum({&value, 1}, what);
  return value;
}

void sum_all(Together& together, std::span<Int128> values, const char* what) {
  if (together.alone()) return;
  std::vector<std::int64_t> words;
  for (Int128 v : values)
    for (std::int64_t word : words_of(v)) words.push_back(word);
  together.sum(words, what);
  for (size_t i = 0; i < values.size(); ++i) values[i] = from_words(words.data() + kWords * i);
}

void sum_and_largest(Together& together, Int128& sum, std::span<double> most, const char* what) {
  if (together.alone()) return;
  Words words = words_of(sum);
  together.sum_and_largest(words, most, what);
  sum = from_words(words.data());
}

Int128 sum_of(Together& together, Int128 value, const char* what) {
  sum_all(together, {&value, 1}, what);
  return value;
}

double largest_of(Together& together, double value, const char* what) {
  together.largest({&value, 1}, what);
  return value;
}

std::vector<std::vector<std::int64_t>> gathered(Together& together, std::span<const std::int64_t> own,
                                                const char* what) {
  if (together.alone()) return {{own.begin(), own.end()}};
  std::vector<std::int64_t> sizes(together.parts());
  sizes[together.part()] = narrow<std::int64_t>(own.size());
  together.sum(sizes, what);
  std::vector<size_t> begins{0};
  for (std::int64_t size : sizes) begins.push_back(begins.back() + index(size));
  // Each part adds zeros where the others write.
  std::vector<std::int64_t> all(begins.back());
  std::copy(own.begin(), own.end(), all.data() + begins[together.part()]);
  together.sum(all, what);
  std::vector<std::vector<std::int64_t>> out;
  for (size_t p = 0; p < sizes.size(); ++p) out.emplace_back(all.data() + begins[p], all.data() + begins[p + 1]);
  return out;
}

}  // namespace frugal
