// The engine's arguments and results as plain Python: tuples, lists and whole numbers of any size.
#pragma once

#include <cstring>

#include "bind/python.hpp"
#include "engine/engine.hpp"

namespace frugal {

inline nb::object to_python(Int128 v) {
  const nb::bytes raw(reinterpret_cast<const char*>(&v), sizeof v);
  return nb::module_::import_("builtins").attr("int").attr("from_bytes")(raw, "little", "signed"_a = true);
}

inline Int128 wide_from(const nb::object& v) {
  const auto raw = nb::cast<nb::bytes>(v.attr("to_bytes")(sizeof(Int128), "little", "signed"_a = true));
  Int128 out;
  std::memcpy(&out, raw.c_str(), sizeof out);
  return out;
}

template <class T>
std::vector<T> list_from(const nb::handle& items) {
  return nb::cast<std::vector<T>>(items);
}

template <class T>
nb::list to_list(std::span<const T> values) {
  nb::list out;
  for (const T& v : values) out.append(nb::cast(v));
  return out;
}

// The numbers of the nodes whose flags are set.
inline nb::list numbers_of(std::span<const std::uint8_t> wanted) {
  nb::list out;
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) out.append(i);
  return out;
}

inline std::vector<std::uint8_t> mask_of(std::span<const size_t> numbers, size_t size) {
  std::vector<std::uint8_t> out(size);
  for (size_t n : numbers) out.at(n) = 1;
  return out;
}

// (rows, weight, gradient, squares)
inline nb::object to_python(const NodeSums& s) {
  return nb::make_tuple(s.rows, s.weight, s.gradient, to_python(s.squares));
}

inline NodeSums sums_from(const nb::handle& v) {
  return {nb::cast<std::int64_t>(v[0]), nb::cast<std::int64_t>(v[1]), nb::cast<std::int64_t>(v[2]),
          wide_from(nb::borrow(v[3]))};
}

// (gain, bin, side of missing values, reach)
inline nb::object to_python(const ColumnSplit& s) {
  return nb::make_tuple(s.gain, s.bin, static_cast<int>(s.missing), s.reach);
}

inline ColumnSplit split_from(const nb::handle& v) {
  return {nb::cast<double>(v[0]), nb::cast<Bin>(v[1]), static_cast<MissingSide>(nb::cast<int>(v[2])),
          nb::cast<float>(v[3])};
}

// (node, column, whether each bin goes left; that of missing values is last)
inline nb::object to_python(const SplitRule& rule, size_t bins) {
  nb::list left;
  for (size_t b = 0; b <= bins; ++b) {
    const bool by_threshold = b < bins ? b <= rule.bin : rule.missing_left;
    left.append(rule.listed ? rule.goes_left[b] : by_threshold);
  }
  return nb::make_tuple(rule.node, rule.column, left);
}

inline SplitRule rule_from(const nb::handle& v) {
  SplitRule rule;
  rule.node = nb::cast<size_t>(v[0]);
  rule.column = nb::cast<size_t>(v[1]);
  rule.listed = true;
  const auto left = list_from<bool>(v[2]);
  if (left.size() > rule.goes_left.size()) throw std::invalid_argument("There are more than 256 bins.");
  std::copy(left.begin(), left.end(), rule.goes_left.begin());
  return rule;
}

// (bins, missing, categorical, sparse, listed weight, place)
inline nb::object to_python(const ColumnFacts& c) {
  return nb::make_tuple(c.bins, c.missing, c.categorical, c.sparse, c.listed_weight,
                        c.place == kNone ? nb::none() : nb::cast(c.place));
}

inline ColumnFacts column_from(const nb::handle& v) {
  return {nb::cast<Bin>(v[0]),  nb::cast<bool>(v[1]),         nb::cast<bool>(v[2]),
          nb::cast<bool>(v[3]), nb::cast<std::int64_t>(v[4]), v[5].is_none() ? kNone : nb::cast<size_t>(v[5])};
}

inline const char* name_of(Pool pool) {
  return pool == Pool::all ? "all" : pool == Pool::offered ? "offered" : "owned";
}

inline Pool pool_from(const std::string& name) {
  for (Pool pool : {Pool::all, Pool::offered, Pool::owned})
    if (name == name_of(pool)) return pool;
  throw std::invalid_argument("No pool of columns is called '" + name + "'.");
}

}  // namespace frugal
