// A numeric table as the user holds it: any element type, any memory order, read in place.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "types.hpp"

namespace frugal {

enum class Element { f64, f32, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

struct Table {
  const void* data = nullptr;
  Element element = Element::f64;
  size_t rows = 0, columns = 0;
  std::ptrdiff_t row_step = 0, column_step = 0;  // in elements

  // Calls body(cell) where cell(row, column) is the value as a double.
  template <class Body>
  void read(const Body& body) const {
    auto with = [&]<class T>(const T* base) {
      body([=, rs = row_step, cs = column_step](size_t r, size_t c) {
        return static_cast<double>(base[static_cast<std::ptrdiff_t>(r) * rs + static_cast<std::ptrdiff_t>(c) * cs]);
      });
    };
    switch (element) {
      case Element::f64:
        return with(static_cast<const double*>(data));
      case Element::f32:
        return with(static_cast<const float*>(data));
      case Element::i64:
        return with(static_cast<const std::int64_t*>(data));
      case Element::i32:
        return with(static_cast<const std::int32_t*>(data));
      case Element::i16:
        return with(static_cast<const std::int16_t*>(data));
      case Element::i8:
        return with(static_cast<const std::int8_t*>(data));
      case Element::u64:
        return with(static_cast<const std::uint64_t*>(data));
      case Element::u32:
        return with(static_cast<const std::uint32_t*>(data));
      case Element::u16:
        return with(static_cast<const std::uint16_t*>(data));
      case Element::u8:
        return with(static_cast<const std::uint8_t*>(data));
      case Element::boolean:
        return with(static_cast<const bool*>(data));
    }
    throw std::logic_error("unknown element type");
  }
};

}  // namespace frugal
