#include "offered.hpp"

#include <algorithm>
#include <cmath>

#include "limits.hpp"

namespace frugal {
namespace {

size_t count_of(double share, size_t columns) {
  const auto d = static_cast<double>(columns);
  const double count = share < 0 ? std::max<double>(kLeastOffered, 10.0 * std::sqrt(d)) : share * d;
  return count >= d ? 0 : std::max<size_t>(1, static_cast<size_t>(std::ceil(count)));
}

std::uint64_t mixed(std::uint64_t v) {
  v = (v ^ (v >> 30)) * 0xBF58476D1CE4E5B9ull;
  v = (v ^ (v >> 27)) * 0x94D049BB133111EBull;
  return v ^ (v >> 31);
}

// A number in [0, 1) for every triple.
double uniform(std::uint64_t seed, std::uint64_t tree, std::uint64_t draw) {
  const std::uint64_t step = 0x9E3779B97F4A7C15ull;
  return static_cast<double>(mixed(mixed(mixed(seed + step) + tree * step) + (draw + 1) * step) >> 11) * 0x1p-53;
}

}  // namespace

Offered::Offered(const BinnedMatrix& X, double share, std::uint64_t seed, std::span<const size_t> sparse)
    : X_(X), wanted_(count_of(share, X.columns())), seed_(seed) {
  if (!sampling()) return;
  for (size_t p = 0; p < X.dense(); ++p)
    if (X.cells(X.dense_column(p)) > 1) candidates_.push_back(X.dense_column(p));
  for (size_t s : sparse) candidates_.push_back(X.sparse_column(s));
  std::sort(candidates_.begin(), candidates_.end());
  gain_.resize(X.columns());
  lanes_.rows = X.rows();
}

// All columns are looked at in the first tree, some trees after a purchase, which may have made others worthless, and
// now and then.
void Offered::begin_tree(size_t bought) {
  ++trees_;
  const std::uint64_t since = trees_ - last_look_;
  all_at_root_ = last_look_ == 0 || since >= kLookAtAll || (since >= kLookAgain && bought > bought_then_);
  if (!all_at_root_) return;
  last_look_ = trees_;
  bought_then_ = bought;
}

// In proportion to gains, with a fifth of the chance shared out evenly. Ascending.
std::vector<size_t> Offered::drawn(std::span<const std::uint8_t> taken) {
  double sum = 0.0;
  size_t left = 0;
  for (size_t c : candidates_) {
    if (taken[c]) continue;
    sum += gain_[c];
    ++left;
  }
  const double least = sum > 0 ? 0.25 * sum / static_cast<double>(left) : 1.0;
  std::vector<double> until(candidates_.size());
  double total = 0.0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (!taken[candidates_[i]]) total += gain_[candidates_[i]] + least;
    until[i] = total;
  }
  std::vector<size_t> places;
  const size_t wanted = std::min(wanted_, left);
  for (std::uint64_t draw = 0; draw < 2 * wanted; ++draw) {
    const auto at = std::upper_bound(until.begin(), until.end(), uniform(seed_, trees_, draw) * total);
    if (at != until.end()) places.push_back(static_cast<size_t>(at - until.begin()));
  }
  // The first `wanted` different ones.
  std::vector<std::uint8_t> seen(candidates_.size());
  std::vector<size_t> columns;
  for (size_t i : places) {
    if (seen[i] || columns.size() == wanted) continue;
    seen[i] = 1;
    columns.push_back(candidates_[i]);
  }
  std::sort(columns.begin(), columns.end());
  return columns;
}

void Offered::draw(std::span<const std::uint8_t> taken, Context& context) {
  lanes_.columns.clear();
  lanes_.groups.clear();
  sparse_.clear();
  for (size_t c : drawn(taken)) {
    if (X_.place(c) >= 0) {
      lanes_.columns.push_back(c);
    } else {
      sparse_.push_back(static_cast<size_t>(~X_.place(c)));
    }
  }
  const size_t groups = (lanes_.places() + kLanes - 1) / kLanes, n = X_.rows();
  if (groups * kLanes * n > bytes_) {
    bytes_ = groups * kLanes * n;
    memory_ = std::make_unique<std::uint8_t[]>(bytes_);
  }
  for (size_t g = 0; g < groups; ++g) lanes_.groups.push_back(memory_.get() + g * kLanes * n);
  context.parallel_for(groups, static_cast<double>(lanes_.places() * n), [&](size_t g, int) {
    for (size_t p = g * kLanes; p < std::min(lanes_.places(), (g + 1) * kLanes); ++p)
      X_.copy(lanes_.columns[p], 0, n, memory_.get() + g * kLanes * n + p % kLanes, kLanes);
  });
}

}  // namespace frugal
