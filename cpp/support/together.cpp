#include "support/together.hpp"

#include <array>
#include <numeric>

namespace frugal {
namespace {

class Alone final : public Together {
 public:
  size_t part() const override { return 0; }
  size_t parts() const override { return 1; }
  void sum(std::span<std::int64_t>, const char*) override {}
  void largest(std::span<double>, const char*) override {}
};

// A wide number as four words of 32 bits: sums of so few of them can't overflow.
constexpr size_t kWords = 4;

}  // namespace

Together& alone() {
  static Alone alone;
  return alone;
}

std::int64_t sum_of(Together& together, std::int64_t value, const char* what) {
  together.sum({&value, 1}, what);
  return value;
}

void sum_all(Together& together, std::span<Wide> values, const char* what) {
  if (together.alone()) return;
  std::vector<std::int64_t> words;
  for (Wide v : values)
    for (size_t w = 0; w < kWords; ++w) {
      const auto low = static_cast<std::uint32_t>(v);
      words.push_back(w + 1 < kWords ? std::int64_t{low} : static_cast<std::int64_t>(v));
      v >>= 32;
    }
  together.sum(words, what);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = 0;
    for (size_t w = kWords; w-- > 0;) values[i] = values[i] * (Wide{1} << 32) + words[kWords * i + w];
  }
}

Wide sum_of(Together& together, Wide value, const char* what) {
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
  sizes[together.part()] = static_cast<std::int64_t>(own.size());
  together.sum(sizes, what);
  // Each part adds zeros where the others write.
  std::vector<std::int64_t> all(static_cast<size_t>(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0})));
  const auto first =
      std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(together.part()), std::int64_t{0});
  std::copy(own.begin(), own.end(), all.begin() + first);
  together.sum(all, what);
  std::vector<std::vector<std::int64_t>> out;
  auto at = all.begin();
  for (std::int64_t size : sizes) {
    out.emplace_back(at, at + size);
    at += size;
  }
  return out;
}

}  // namespace frugal
