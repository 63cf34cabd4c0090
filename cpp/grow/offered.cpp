#include "grow/offered.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "support/limits.hpp"
#include "support/mixing.hpp"

namespace frugal {
namespace {

// How many columns are offered; 0: all.
size_t count_of(double share, size_t columns) {
  const double d = real(columns);
  const double count = share < 0 ? std::max<double>(kLeastOffered, 3.0 * std::sqrt(d)) : share * d;
  return count >= d ? 0 : std::max<size_t>(1, truncated<size_t>(std::ceil(count)));
}

// A random number in [0, 1).
double uniform(std::uint64_t seed, std::uint64_t tree, std::uint64_t draw) {
  return real(mixed(mixed(mixed(seed + kMixStep) + tree * kMixStep) + (draw + 1) * kMixStep) >> 11) * 0x1p-53;
}

}  // namespace

Offered::Offered(size_t columns, double share, std::uint64_t seed, std::vector<size_t> candidates,
                 const DrawState& from, std::span<const size_t> purchases)
    : wanted_(count_of(share, columns)), seed_(seed), candidates_(std::move(candidates)), state_(from) {
  if (!sampling()) return;
  if (state_.gains.size() != columns) state_ = {from.iterations, 0, 0, from.look_at_all, std::vector<double>(columns)};
  if (state_.last_look == 0) return;
  std::vector<std::uint8_t> taken(columns);
  for (size_t f : purchases.first(std::min(state_.bought_then, purchases.size()))) taken[f] = 1;
  add_up(taken);
}

// All columns are searched in the first iteration, some iterations after a purchase, which may have made other columns
// redundant, and from time to time.
void Offered::begin_trees(size_t bought) {
  ++state_.iterations;
  const std::uint64_t since = state_.iterations - state_.last_look;
  all_at_root_ = state_.look_at_all || state_.last_look == 0 || since >= kLookAtAll ||
                 (since >= kLookAgain && bought > state_.bought_then);
  if (!all_at_root_) return;
  state_.last_look = state_.iterations;
  state_.bought_then = bought;
  std::fill(state_.gains.begin(), state_.gains.end(), 0.0);
}

// Half of the offered columns are those with the largest gains. The others are drawn with chances in proportion to
// their gains, to which a constant is added that makes up a fifth of all chances.
void Offered::add_up(std::span<const std::uint8_t> taken) {
  std::vector<size_t> left;
  for (size_t c : candidates_)
    if (!taken[c]) left.push_back(c);
  certain_ = left;
  const size_t certain = std::min(left.size(), wanted_ / 2);
  std::nth_element(certain_.data(), certain_.data() + certain, certain_.data() + left.size(), [&](size_t a, size_t b) {
    return state_.gains[a] != state_.gains[b] ? state_.gains[a] > state_.gains[b] : a < b;
  });
  certain_.resize(certain);
  std::sort(certain_.begin(), certain_.end());
  open_.clear();
  std::set_difference(left.begin(), left.end(), certain_.begin(), certain_.end(), std::back_inserter(open_));
  double sum = 0.0;
  for (size_t c : open_) sum += state_.gains[c];
  const double least = sum > 0 ? 0.25 * sum / real(open_.size()) : 1.0;
  until_.clear();
  double total = 0.0;
  for (size_t c : open_) until_.push_back(total += state_.gains[c] + least);
}

// Stratified sampling: the cumulative chances are cut into as many equal intervals as columns are still needed, and a
// random point in each interval selects a column. Ascending.
std::vector<size_t> Offered::drawn() const {
  std::vector<size_t> hit, all;
  const size_t wanted = wanted_ - std::min(wanted_, certain_.size());
  const double width = until_.empty() || wanted == 0 ? 0.0 : until_.back() / real(wanted);
  size_t at = 0;
  for (size_t i = 0; i < wanted; ++i) {
    const double point = (real(i) + uniform(seed_, state_.iterations, i)) * width;
    while (at < until_.size() && !(point < until_[at])) ++at;
    if (at == until_.size()) break;
    if (hit.empty() || hit.back() != open_[at]) hit.push_back(open_[at]);
  }
  std::merge(certain_.begin(), certain_.end(), hit.begin(), hit.end(), std::back_inserter(all));
  return all;
}

std::vector<size_t> Offered::draw(std::span<const std::uint8_t> taken) {
  if (all_at_root_) add_up(taken);
  return drawn();
}

}  // namespace frugal
