// A sparse table: only values that are not zero are stored, column by column.
#pragma once

#include "data/table.hpp"

namespace frugal {

// Rows ascend within a column and none is repeated; `check` makes sure before anything else reads them.
class SparseTable : public Source {
 public:
  SparseTable(size_t rows, size_t columns, const void* values, Element value_type, const void* indices,
              Element index_type, const void* begins, Element begin_type)
      : rows_(rows),
        columns_(columns),
        values_(values),
        value_type_(value_type),
        indices_(indices),
        index_type_(index_type),
        begins_(begins),
        begin_type_(begin_type) {}

  // Throws if the arrays, with `stored` values, do not describe such a table.
  void check(size_t stored) const;

  size_t rows() const override { return rows_; }
  size_t columns() const override { return columns_; }
  void read(size_t column, size_t begin, size_t end, double* out) const override;

  size_t begin_of(size_t column) const { return index(whole(begins_, begin_type_, column)); }
  size_t stored(size_t column) const { return begin_of(column + 1) - begin_of(column); }
  size_t stored() const { return begin_of(columns_); }

  // Calls body(row, value) for every stored value of a column, rows ascending.
  template <class Body>
  void each(size_t column, const Body& body) const {
    const size_t begin = begin_of(column), end = begin_of(column + 1);
    as_elements(values_, value_type_, [&](const auto* values) {
      auto each_of = [&](const auto* rows) {
        for (size_t i = begin; i < end; ++i) body(narrow<Row>(rows[i]), values[i]);
      };
      if (index_type_ == Element::i32) {
        each_of(static_cast<const std::int32_t*>(indices_));
      } else {
        each_of(static_cast<const std::int64_t*>(indices_));
      }
    });
  }

 private:
  static std::int64_t whole(const void* data, Element type, size_t i) {
    return type == Element::i32 ? static_cast<const std::int32_t*>(data)[i] : static_cast<const std::int64_t*>(data)[i];
  }

  size_t rows_, columns_;
  const void* values_;
  Element value_type_;
  const void* indices_;
  Element index_type_;
  const void* begins_;
  Element begin_type_;
};

}  // namespace frugal
