#include "data/few_values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "data/cut_tree.hpp"
#include "support/kernels.hpp"

namespace frugal {

namespace {

// Calls body(i) for each value that is not among the known ones, nor NaN.
template <class Body>
void each_new(std::span<const double> values, std::span<const double> known, const Body& body) {
  // The last of 255 values needs no threshold: it is that of the last bin.
  const CutTree tree = cut_tree(known.first(std::min(known.size(), FewValues::kMost - 1)), Element::f64);
  std::uint8_t bins[kBinRows];
  double of_bin[FewValues::kMost + 1];  // NaN, which equals nothing, for values above all known ones, and for NaN
  std::copy(known.begin(), known.end(), of_bin);
  std::fill(of_bin + known.size(), std::end(of_bin), std::numeric_limits<double>::quiet_NaN());
  for (size_t begin = 0; begin < values.size(); begin += kBinRows) {
    const size_t n = std::min(kBinRows, values.size() - begin);
    const double* v = values.data() + begin;
    kernels().bins_of_doubles(n, v, tree, bins);
    for (size_t i = 0; i < n; ++i)
      if (of_bin[bins[i]] != v[i] && !std::isnan(v[i]))
        if (!body(begin + i)) return;
  }
}

}  // namespace

void FewValues::add(double value) {
  if (too_many_ || std::isnan(value)) return;
  const auto at = std::lower_bound(values_.begin(), values_.end(), value);
  if (at != values_.end() && *at == value) return;
  if (values_.size() == kMost) {
    too_many_ = true;
    values_.clear();
  } else {
    values_.insert(at, value + 0.0);
  }
}

void FewValues::add(std::span<const double> values, const std::int64_t* units) {
  if (too_many_) return;
  const std::vector<double> known = values_;
  each_new(values, known, [&](size_t i) {
    if (units == nullptr || units[i] > 0) add(values[i]);
    return !too_many_;
  });
}

void FewValues::add(const FewValues& others) {
  for (double v : others.values_) add(v);
  if (!others.too_many_) return;
  too_many_ = true;
  values_.clear();
}

bool FewValues::any_new(std::span<const double> values) const {
  bool any = false;
  each_new(values, values_, [&](size_t) {
    any = true;
    return false;
  });
  return any;
}

std::vector<std::int64_t> FewValues::packed() const {
  std::vector<std::int64_t> out{too_many_};
  for (double v : values_) out.push_back(std::bit_cast<std::int64_t>(v));
  return out;
}

FewValues FewValues::unpacked(std::span<const std::int64_t> packed) {
  FewValues few;
  few.too_many_ = packed[0] != 0;
  for (std::int64_t bits : packed.subspan(1)) few.values_.push_back(std::bit_cast<double>(bits));
  return few;
}

}  // namespace frugal
