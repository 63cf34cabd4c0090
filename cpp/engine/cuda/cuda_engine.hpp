// The engine that runs on a GPU, behind the table of a plugin.
#pragma once

#include "engine/cuda/device_leaves.hpp"
#include "engine/cuda/device_sample.hpp"
#include "engine/local_engine.hpp"

namespace frugal {

class CudaEngine final : public LocalEngine {
 public:
  // Arguments passed by reference must outlive the engine.
  CudaEngine(const Sample& train, const Sample* validation, Loss& loss, RawPredictions before,
             const EngineOptions& options, Context& context, std::shared_ptr<const device::Device> on);

  const TableFacts& table() const override { return facts_; }
  size_t outputs() const override { return loss_.outputs(); }
  OutputScale scale(size_t output) const override { return loss_.scale(output); }
  double step_limit() const override { return loss_.step_limit(); }
  double leaf_quantile() const override { return loss_.leaf_quantile(); }
  void constrain(std::span<const std::int8_t> trends) override;
  void confine(std::span<const ValueRange> ranges) override;

  std::vector<double> best_constant() override { return loss_.start(train_.target, context_); }
  void predict(std::span<const double> constants) override { predictions_.set(constants); }
  void predict_as_before() override { predictions_.set_as_before(); }
  Losses losses() override;
  std::span<const double> validation_raw() override;
  void derive() override { predictions_.derive(); }
  GradientFacts gradients(size_t output) const override { return predictions_.gradients()[output].facts; }
  double impurity(size_t output) override { return predictions_.impurity(output); }
  Moved moved(std::span<const double> full, std::span<const double> step) override {
    return predictions_.moved(full, step);
  }

  void begin_trees(std::span<const std::int8_t> signs, const RowDraw& draw) override;
  NodeSums root(size_t tree) const override { return roots_[tree]; }
  GradientFacts tree_gradients(size_t tree) const override { return trees_[tree].facts; }
  std::vector<std::int64_t> probe(std::uint64_t number) override;
  double gradient_move(size_t output) override { return predictions_.move(output); }
  std::vector<NodeSums> begin_level(std::span<const std::uint8_t> open, bool squares) override;
  std::vector<NodeSums> split(std::span<const SplitRule> splits, std::span<const size_t> leaves) override;

  // Prices per row are for the CPU; Python says so before a fit begins.
  void keep_looks() override { no_looks(); }
  void remember(std::span<const size_t>, std::span<const std::uint8_t>) override { no_looks(); }
  std::vector<std::int64_t> looked(std::span<const size_t>) override { no_looks(); }
  std::vector<std::int64_t> unseen(std::span<const size_t>, std::span<const size_t>) override { no_looks(); }
  void look(size_t, size_t) override { no_looks(); }
  void route(std::span<const SplitRule>, std::span<const size_t>) override { no_looks(); }

  std::span<const size_t> columns(Pool pool) const override { return pools_[number_of(pool)].columns().columns(); }
  void own(std::span<const size_t> columns) override;
  void offer(std::span<const size_t> columns) override;
  void expect(std::span<const size_t>) override {}

  void search(Pool pool, std::span<const std::uint8_t> wanted, bool deeper, std::span<ColumnSplit> splits) override;
  void search(Pool pool, std::span<Piece> pieces) override;
  void search_sparse(std::span<const size_t> columns, std::span<const std::uint8_t> wanted,
                     std::span<ColumnSplit> splits) override;
  std::vector<std::int64_t> cells(size_t node, size_t column) override;

  bool can_rule_out() const override;
  void expect_screening(bool expected) override { screening_ = expected; }
  void rule_out(std::span<ScreeningQuery> queries) override;
  std::vector<ListedSums> listed(size_t tree, std::span<const size_t> columns) override;

  std::vector<LeafSums> leaf_sums(size_t output) override;
  std::vector<double> leaf_quantiles(size_t output, double level) override;
  void add_tree(size_t output, const Tree& tree, std::span<const double> leaf_values) override;

  std::vector<ScoreSums> score_sums(std::span<const size_t> columns) override;
  std::vector<Int128> score_gradients(size_t output, std::span<const size_t> columns) override;
  LineSums line_sums(size_t output, size_t column) override;
  double line_quantile(size_t output, size_t column, double intercept, double level) override;
  std::vector<double> curvatures(size_t output, std::span<const size_t> columns) override;
  void add_line(size_t output, size_t column, double value, double slope) override;

 private:
  [[noreturn]] static void no_looks() { throw device::DeviceError("A GPU can't price features per row."); }
  size_t tree_of(size_t output) const { return trees_.size() == outputs() ? output : 0; }
  device::SearchedLevel here() const { return {level_, partition_, trees_}; }
  device::RowList drawn_with(size_t output) const;  // the drawn rows with the gradients of an output
  std::vector<device::RowList> leaves_of(size_t output) const;
  void let_wait(std::span<const SplitRule> splits, std::span<const size_t> leaves, Level& next) const;
  void begin_screening();
  void stop_if_asked();

  const Sample train_;
  const Sample* validation_;
  Loss& loss_;
  Context& context_;
  TableFacts facts_;
  double min_weight_;

  device::Queue queue_;
  device::DevicePredictions predictions_;
  device::DeviceColumns columns_;
  std::unique_ptr<device::SingleUploads> validation_columns_;
  device::TiledColumns owned_, offered_;
  device::DevicePartition partition_;
  device::DeviceSearch search_;
  std::vector<device::DevicePool> pools_;
  device::DeviceLeaves leaf_work_;
  device::DeviceLines lines_;

  std::vector<device::DeviceGradients> trees_;  // on which each tree is searched
  std::vector<NodeSums> roots_;                 // by tree
  std::vector<std::vector<OpenNode>> leaves_;   // by tree
  Level level_;
  std::vector<std::uint64_t> row_keys_;  // empty until the first probe
  std::vector<double> validation_raw_;
  std::unique_ptr<device::DeviceSample> sample_;
  const std::uint64_t seed_;
  bool screening_ = false;  // the trees of this iteration are screened by the sample
};

}  // namespace frugal
