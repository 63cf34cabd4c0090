// The leaves of grown trees, and lines: sums and quantiles over rows, and new predictions.
#pragma once

#include "engine/cuda/device_search.hpp"

namespace frugal::device {

class DeviceLeaves {
 public:
  DeviceLeaves(Queue& queue, DevicePredictions& predictions)
      : queue_(queue),
        predictions_(predictions),
        parcel_(queue),
        lists_(queue),
        tasks_(queue),
        words_(queue),
        keys_(queue),
        nodes_(queue) {}

  std::vector<LeafSums> sums(size_t output, std::span<const RowList> leaves, std::span<const OpenNode> nodes);
  // Of the residuals y - raw.
  std::vector<double> quantiles(size_t output, std::span<const RowList> leaves, double level);
  // Of the ratios of residual and score along a line.
  double line_quantile(size_t output, const RowList& rows, const Bins& bins, const std::int16_t* scores,
                       double intercept, double level);
  void add(size_t output, std::span<const RowList> leaves, std::span<const double> values);
  // Adds a tree to the predictions of rows that are not in its leaves. `bins(column)`: of these rows.
  template <class BinsOf>
  void walk(const Tree& tree, const RowList& rows, double* raw, const BinsOf& bins);

 private:
  std::vector<double> find(const Sought& sought, size_t lists, size_t tasks, double level);
  Sought sought(size_t output, std::span<const RowList> lists, size_t& tasks);
  void walk(std::span<const WalkNode> nodes, const RowList& rows, double* raw);
  static WalkNode node_of(const Tree& tree, size_t node, size_t value_bins);

  Queue& queue_;
  DevicePredictions& predictions_;
  Parcel parcel_;
  Buffer<RowList> lists_;
  Buffer<Task> tasks_;
  Buffer<Word> words_, keys_;
  Buffer<WalkNode> nodes_;
};

// `bins(column)` returns where its bins are and how many of them values have.
template <class BinsOf>
void DeviceLeaves::walk(const Tree& tree, const RowList& rows, double* raw, const BinsOf& bins) {
  std::vector<WalkNode> nodes;
  for (size_t n = 0; n < tree.nodes(); ++n) {
    WalkNode node{nullptr, 0, 0, {}, tree.value[n]};
    if (!tree.is_leaf(n)) {
      const auto [at, value_bins] = bins(tree.column(n));
      node = node_of(tree, n, value_bins);
      node.bins = at.first;
      node.step = at.step;
    }
    nodes.push_back(node);
  }
  walk(nodes, rows, raw);
}

class DeviceLines {
 public:
  DeviceLines(Queue& queue, const BinnedMatrix& X, const DeviceColumns& columns, DeviceSearch& search)
      : queue_(queue),
        X_(X),
        columns_(columns),
        search_(search),
        scores_(queue),
        jobs_(queue),
        words_(queue),
        curvature_columns_(queue) {}

  const std::int16_t* scores_of(size_t column);
  std::vector<ScoreSums> sums(std::span<const size_t> columns, const RowList& rows);
  std::vector<Int128> gradients(std::span<const size_t> columns, const RowList& rows);
  LineSums line(size_t column, size_t output, const RowList& rows, DevicePredictions& predictions);
  std::vector<double> curvatures(std::span<const size_t> columns, size_t output, const RowList& rows,
                                 DevicePredictions& predictions);
  void add(const Bins& bins, size_t column, size_t rows, double value, double slope, double* raw);

 private:
  void prepare();
  std::vector<Word> dots(std::span<const size_t> columns, const RowList& rows);

  Queue& queue_;
  const BinnedMatrix& X_;
  const DeviceColumns& columns_;
  DeviceSearch& search_;
  Buffer<std::int16_t> scores_;
  Buffer<DotJob> jobs_;
  Buffer<Word> words_;
  Buffer<CurvatureColumn> curvature_columns_;
};

}  // namespace frugal::device
