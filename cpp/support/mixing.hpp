// Pseudo-random bits, the same on every machine.
#pragma once

#include <cstdint>

#include "support/anywhere.hpp"

namespace frugal {

inline constexpr std::uint64_t kMixStep = 0x9E3779B97F4A7C15ull;

// A one-to-one hash: every bit of the result depends on all bits of v. Called with multiples of kMixStep it is a random
// number generator.
FRUGAL_ANYWHERE inline std::uint64_t mixed(std::uint64_t v) {
  v = (v ^ (v >> 30)) * 0xBF58476D1CE4E5B9ull;
  v = (v ^ (v >> 27)) * 0x94D049BB133111EBull;
  return v ^ (v >> 31);
}

}  // namespace frugal
