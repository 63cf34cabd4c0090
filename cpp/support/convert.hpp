// Conversions between kinds of numbers, in one place. Indices are `size_t` or `Row` from where they are made, so few
// conversions are left: numbers that Python or a model file holds as signed ones, sizes that become terms of signed
// sums, and whole numbers that become reals.
//
// Builds with FRUGAL_SMALL_LIMITS (tools/sanitize) check that no value is lost; others convert for free. Internal
// linkage on purpose: kernels.cpp is compiled once per instruction set and must not share code between the copies.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace frugal {

[[noreturn]] void lost_in_conversion();

#ifdef FRUGAL_SMALL_LIMITS
inline constexpr bool kCheckConversions = true;
#else
inline constexpr bool kCheckConversions = false;
#endif

// Another type of whole number that can hold the value.
template <std::integral To, std::integral From>
static constexpr To narrow(From v) {
  const To out = static_cast<To>(v);
  if (kCheckConversions && (static_cast<From>(out) != v || (out < To{}) != (v < From{}))) lost_in_conversion();
  return out;
}

// A place in a list, from a number that is not negative.
template <std::integral From>
static constexpr std::size_t index(From v) {
  return narrow<std::size_t>(v);
}

// The low bits of a whole number, on purpose.
template <std::integral To, class From>
static constexpr To low_bits(From v) {
  return static_cast<To>(v);
}

// A whole number as a double: exact up to 2^53, beyond that the nearest one. Sizes are below 2^63: as signed numbers
// they take one instruction, as unsigned ones up to seven and a branch.
template <class From>
  requires std::integral<From> || std::same_as<From, __int128>
static constexpr double real(From v) {
  if constexpr (std::same_as<From, std::size_t>) {
    return static_cast<double>(narrow<std::int64_t>(v));
  } else {
    return static_cast<double>(v);
  }
}

// A double as a whole number, toward zero.
template <std::integral To>
static constexpr To truncated(double v) {
  const To out = static_cast<To>(v);
  if (kCheckConversions && !(real(out) - v < 1.0 && v - real(out) < 1.0)) lost_in_conversion();
  return out;
}

}  // namespace frugal
