// The user's numeric table, read in place: each column has its element type and its step.
#pragma once

#include <stdexcept>

#include "data/source.hpp"

namespace frugal {

enum class Element { f64, f32, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

// Calls body with a pointer of the right type.
template <class Body>
decltype(auto) as_elements(const void* data, Element element, const Body& body) {
  switch (element) {
    case Element::f64:
      return body(static_cast<const double*>(data));
    case Element::f32:
      return body(static_cast<const float*>(data));
    case Element::i64:
      return body(static_cast<const std::int64_t*>(data));
    case Element::i32:
      return body(static_cast<const std::int32_t*>(data));
    case Element::i16:
      return body(static_cast<const std::int16_t*>(data));
    case Element::i8:
      return body(static_cast<const std::int8_t*>(data));
    case Element::u64:
      return body(static_cast<const std::uint64_t*>(data));
    case Element::u32:
      return body(static_cast<const std::uint32_t*>(data));
    case Element::u16:
      return body(static_cast<const std::uint16_t*>(data));
    case Element::u8:
      return body(static_cast<const std::uint8_t*>(data));
    case Element::boolean:
      return body(static_cast<const bool*>(data));
  }
  throw std::logic_error("unknown element type");
}

struct Column {
  const void* data = nullptr;
  Element element = Element::f64;
  std::ptrdiff_t step = 1;  // in elements

  void read(size_t begin, size_t end, double* out) const {
    as_elements(data, element, [&](const auto* values) {
      const auto first = narrow<std::ptrdiff_t>(begin), count = narrow<std::ptrdiff_t>(end - begin);
      const auto* v = values + first * step;
      if (step == 1) {
        for (std::ptrdiff_t i = 0; i < count; ++i) out[i] = v[i];
      } else {
        for (std::ptrdiff_t i = 0; i < count; ++i) out[i] = v[i * step];
      }
    });
  }
  void gather(std::span<const Row> rows, double* out) const {
    as_elements(data, element, [&](const auto* values) {
      for (size_t i = 0; i < rows.size(); ++i) out[i] = values[narrow<std::ptrdiff_t>(rows[i]) * step];
    });
  }
};

class Table : public Source {
 public:
  Table(size_t rows, std::vector<Column> columns) : rows_(rows), columns_(std::move(columns)) {}

  size_t rows() const override { return rows_; }
  size_t columns() const override { return columns_.size(); }
  void read(size_t column, size_t begin, size_t end, double* out) const override {
    columns_[column].read(begin, end, out);
  }
  const Column& column(size_t c) const { return columns_[c]; }

 private:
  size_t rows_;
  std::vector<Column> columns_;
};

}  // namespace frugal
