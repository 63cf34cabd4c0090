// Masks over a list of columns: one bit for each, eight to a byte.
#pragma once

#include <bit>
#include <span>

#include "support/convert.hpp"
#include "support/types.hpp"

namespace frugal {

inline constexpr size_t kByteBits = 8;

inline std::uint8_t bit_of(size_t place) {
  return low_bits<std::uint8_t>(1u << (place % kByteBits));
}
inline bool has_bit(std::uint8_t byte, size_t bit) {
  return (byte >> bit) & 1;
}
inline void clear_bit(std::uint8_t& byte, size_t bit) {
  byte &= low_bits<std::uint8_t>(~bit_of(bit));
}
inline size_t count_bits(std::uint8_t byte) {
  return index(std::popcount(byte));
}

inline size_t mask_bytes(size_t places) {
  return (places + kByteBits - 1) / kByteBits;
}
inline bool is_set(std::span<const std::uint8_t> mask, size_t place) {
  return has_bit(mask[place / kByteBits], place % kByteBits);
}
inline void set(std::span<std::uint8_t> mask, size_t place) {
  mask[place / kByteBits] |= bit_of(place);
}
inline size_t count(std::span<const std::uint8_t> mask) {
  size_t bits = 0;
  for (std::uint8_t byte : mask) bits += count_bits(byte);
  return bits;
}

}  // namespace frugal
