// All kernels, and the shared memory of each.
#pragma once

#include "line_kernels.hpp"
#include "loss_kernels.hpp"
#include "row_kernels.hpp"
#include "search_kernels.hpp"

namespace frugal::device {

template <class Arguments>
struct MemoryOf {
  using Type = Nothing;
};
template <>
struct MemoryOf<Split> {
  using Type = SplitMemory;
};
template <>
struct MemoryOf<Histogram> {
  using Type = PackedCells;
};
template <>
struct MemoryOf<WeightedHistogram> {
  using Type = WeightedCells;
};
template <>
struct MemoryOf<Scan> {
  using Type = ScanMemory;
};
template <>
struct MemoryOf<Digits> {
  using Type = DigitMemory;
};
template <>
struct MemoryOf<Curvature> {
  using Type = CurvatureMemory;
};

}  // namespace frugal::device
