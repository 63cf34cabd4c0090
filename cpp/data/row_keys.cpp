#include "data/row_keys.hpp"

#include <array>

#include "support/mixing.hpp"

namespace frugal {
namespace {

constexpr size_t kBlock = 4096;
constexpr size_t kBins = 256;

std::uint64_t key_of_bin(size_t column, size_t bin) {
  return bin == 0 ? 0 : mixed((column * kBins + bin) * kMixStep);
}

// Eight dense columns, of which every row has one byte after the other.
void add_group(const Lanes& lanes, size_t group, size_t begin, size_t end, std::uint64_t* keys) {
  const size_t width = lanes.width(group);
  std::vector<std::array<std::uint64_t, kBins>> of_bins(width);
  for (size_t lane = 0; lane < width; ++lane)
    for (size_t b = 0; b < kBins; ++b) of_bins[lane][b] = key_of_bin(lanes.columns[lanes.first(group) + lane], b);
  for (size_t row = begin; row < end; ++row) {
    const std::uint8_t* bins = lanes.groups[group] + row * kLanes;
    for (size_t lane = 0; lane < width; ++lane) keys[row] += of_bins[lane][bins[lane]];
  }
}

}  // namespace

std::vector<std::uint64_t> row_keys(const BinnedMatrix& X, Context& context) {
  const Lanes lanes = X.lanes();
  std::uint64_t usual = 0;  // of a row that no sparse column lists
  for (size_t s = 0; s < X.sparse(); ++s) usual += key_of_bin(X.sparse_column(s), X.listed(s).usual_bin);
  std::vector<std::uint64_t> keys(X.rows(), usual);
  context.over_blocks(X.rows(), kBlock, real(X.dense()) + 1.0, [&](size_t begin, size_t end, size_t) {
    for (size_t g = 0; g < X.groups(); ++g) add_group(lanes, g, begin, end, keys.data());
  });
  for (size_t s = 0; s < X.sparse(); ++s) {
    const auto column = X.listed(s);
    const size_t c = X.sparse_column(s);
    for (size_t i = 0; i < column.rows.size(); ++i)
      keys[column.rows[i]] += key_of_bin(c, column.bins[i]) - key_of_bin(c, column.usual_bin);
  }
  return keys;
}

}  // namespace frugal
