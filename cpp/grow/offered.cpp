#include "grow/offered.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "support/limits.hpp"
#include "support/mixing.hpp"

namespace frugal {
namespace {

size_t count_of(double share, size_t columns) {
  const auto d = static_cast<double>(columns);
  const double count = share < 0 ? std::max<double>(kLeastOffered, 3.0 * std::sqrt(d)) : share * d;
  return count >= d ? 0 : std::max<size_t>(1, static_cast<size_t>(std::ceil(count)));
}

// A number in [0, 1) for every triple.
double uniform(std::uint64_t seed, std::uint64_t tree, std::uint64_t draw) {
  return static_cast<double>(mixed(mixed(mixed(seed + kMixStep) + tree * kMixStep) + (draw + 1) * kMixStep) >> 11) *
         0x1p-53;
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

// All columns are looked at in the first trees, some iterations after a purchase, which may have made others worthless,
// and now and then.
void Offered::begin_trees(size_t bought) {
  ++iterations_;
  const std::uint64_t since = iterations_ - last_look_;
  all_at_root_ = asked_ || last_look_ == 0 || since >= kLookAtAll || (since >= kLookAgain && bought > bought_then_);
  if (!all_at_root_) return;
  last_look_ = iterations_;
  bought_then_ = bought;
  std::fill(gain_.begin(), gain_.end(), 0.0);
}

// The columns of the largest gains are certain, half of what is wanted. The others have chances in proportion to gains,
// a fifth of all chances shared out evenly; they are added up, one candidate after another.
void Offered::add_up(std::span<const std::uint8_t> taken) {
  std::vector<size_t> left;
  for (size_t c : candidates_)
    if (!taken[c]) left.push_back(c);
  certain_ = left;
  const size_t certain = std::min(left.size(), wanted_ / 2);
  std::nth_element(certain_.begin(), certain_.begin() + static_cast<std::ptrdiff_t>(certain), certain_.end(),
                   [&](size_t a, size_t b) { return gain_[a] != gain_[b] ? gain_[a] > gain_[b] : a < b; });
  certain_.resize(certain);
  std::sort(certain_.begin(), certain_.end());
  open_.clear();
  std::set_difference(left.begin(), left.end(), certain_.begin(), certain_.end(), std::back_inserter(open_));
  double sum = 0.0;
  for (size_t c : open_) sum += gain_[c];
  const double least = sum > 0 ? 0.25 * sum / static_cast<double>(open_.size()) : 1.0;
  until_.clear();
  double total = 0.0;
  for (size_t c : open_) until_.push_back(total += gain_[c] + least);
}

// All chances together are cut into as many equal stretches as columns are still wanted, and a point is drawn in each:
// whose chance it hits is offered. Ascending.
std::vector<size_t> Offered::drawn() const {
  std::vector<size_t> hit, all;
  const size_t wanted = wanted_ - std::min(wanted_, certain_.size());
  const double stretch = until_.empty() || wanted == 0 ? 0.0 : until_.back() / static_cast<double>(wanted);
  size_t at = 0;
  for (size_t i = 0; i < wanted; ++i) {
    const double point = (static_cast<double>(i) + uniform(seed_, iterations_, i)) * stretch;
    while (at < until_.size() && !(point < until_[at])) ++at;
    if (at == until_.size()) break;
    if (hit.empty() || hit.back() != open_[at]) hit.push_back(open_[at]);
  }
  std::merge(certain_.begin(), certain_.end(), hit.begin(), hit.end(), std::back_inserter(all));
  return all;
}

void Offered::draw(std::span<const std::uint8_t> taken, Context& context) {
  if (all_at_root_) add_up(taken);
  lanes_.columns.clear();
  lanes_.groups.clear();
  sparse_.clear();
  for (size_t c : drawn()) {
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
