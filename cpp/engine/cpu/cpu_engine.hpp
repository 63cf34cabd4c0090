// The engine that runs on the CPU of this machine.
#pragma once

#include <memory>
#include <vector>

#include "engine/cpu/columns.hpp"
#include "engine/cpu/direction.hpp"
#include "engine/cpu/drawn_rows.hpp"
#include "engine/cpu/group_search.hpp"
#include "engine/cpu/lines.hpp"
#include "engine/cpu/looked_rows.hpp"
#include "engine/cpu/predictions.hpp"
#include "engine/cpu/sampling.hpp"
#include "engine/cpu/sparse_search.hpp"
#include "engine/local_engine.hpp"

namespace frugal {

class CpuEngine final : public LocalEngine {
 public:
  // Arguments passed by reference must outlive the engine.
  CpuEngine(const Sample& train, const Sample* validation, Loss& loss, RawPredictions before,
            const EngineOptions& options, Context& context);

  const TableFacts& table() const override { return facts_; }
  size_t outputs() const override { return loss_.outputs(); }
  double step_limit() const override { return loss_.step_limit(); }
  double leaf_quantile() const override { return loss_.leaf_quantile(); }
  OutputScale scale(size_t output) const override { return loss_.scale(output); }
  void constrain(std::span<const std::int8_t> trends) override;
  void confine(std::span<const ValueRange> ranges) override;

  std::vector<double> best_constant() override { return loss_.start(train_.target, context_); }
  void predict(std::span<const double> constants) override { predictions_.set(constants); }
  void predict_as_before() override { predictions_.set_as_before(); }
  Losses losses() override { return predictions_.losses(); }
  std::span<const double> validation_raw() override { return predictions_.validation_raw(); }
  void derive() override { predictions_.derive(); }
  GradientFacts gradients(size_t output) const override { return predictions_.gradients()[output].facts; }
  double impurity(size_t output) override { return predictions_.impurity(output); }
  Moved moved(std::span<const double> full, std::span<const double> step) override {
    return predictions_.moved(full, step);
  }

  void begin_trees(std::span<const std::int8_t> signs, const RowDraw& draw) override;
  NodeSums root(size_t tree) const override { return roots_[tree]; }
  GradientFacts tree_gradients(size_t tree) const override { return searched()[tree].facts; }
  std::vector<std::int64_t> probe(std::uint64_t number) override;
  double gradient_move(size_t output) override { return predictions_.move(output); }
  std::vector<NodeSums> begin_level(std::span<const std::uint8_t> open, bool squares) override;
  std::vector<NodeSums> split(std::span<const SplitRule> splits, std::span<const size_t> leaves) override;

  void keep_looks() override { looked_.keep(); }
  void remember(std::span<const size_t> columns, std::span<const std::uint8_t> flags) override {
    looked_.remember(columns, flags);
  }
  std::vector<std::int64_t> looked(std::span<const size_t> columns) override {
    return looked_.looked(columns, context_);
  }
  std::vector<std::int64_t> unseen(std::span<const size_t> nodes, std::span<const size_t> columns) override {
    return looked_.unseen(nodes, columns, level_.nodes, partition_, context_);
  }
  void look(size_t node, size_t column) override { looked_.look(node, column, level_.nodes, partition_, context_); }
  void route(std::span<const SplitRule> splits, std::span<const size_t> leaves) override {
    looked_.route(splits, leaves, bins(), context_);
  }

  std::span<const size_t> columns(Pool pool) const override { return search_[number_of(pool)].columns(); }
  void own(std::span<const size_t> columns) override;
  void offer(std::span<const size_t> columns) override;
  void expect(std::span<const size_t> columns) override;

  void search(Pool pool, std::span<const std::uint8_t> wanted, bool deeper, std::span<ColumnSplit> splits) override;
  void search(Pool pool, std::span<Piece> pieces) override;
  void search_sparse(std::span<const size_t> columns, std::span<const std::uint8_t> wanted,
                     std::span<ColumnSplit> splits) override;
  std::vector<std::int64_t> cells(size_t node, size_t column) override;

  bool can_rule_out() const override;
  void expect_screening(bool expected) override { screening_ = expected; }
  void rule_out(std::span<ScreeningQuery> queries) override;
  std::vector<ListedSums> listed(size_t tree, std::span<const size_t> columns) override {
    return sparse_search_.listed(columns, searched()[tree], context_);
  }

  std::vector<LeafSums> leaf_sums(size_t output) override;
  std::vector<double> leaf_quantiles(size_t output, double level) override;
  void add_tree(size_t output, const Tree& tree, std::span<const double> leaf_values) override;

  std::vector<ScoreSums> score_sums(std::span<const size_t> columns) override { return lines_.sums(columns, context_); }
  std::vector<Int128> score_gradients(size_t output, std::span<const size_t> columns) override {
    return lines_.gradients(columns, predictions_.gradients()[output], context_);
  }
  LineSums line_sums(size_t output, size_t column) override {
    return lines_.line(column, predictions_.derived(output), context_);
  }
  double line_quantile(size_t output, size_t column, double intercept, double level) override {
    return lines_.quantile(column, train_.target.of(output), predictions_.raw(output), intercept, level, context_);
  }
  std::vector<double> curvatures(size_t output, std::span<const size_t> columns) override {
    return lines_.curvatures(columns, predictions_.derived(output), context_);
  }
  void add_line(size_t output, size_t column, double value, double slope) override;

 private:
  // The gradients on which trees are searched, by tree.
  AllGradients searched() const { return for_all_ ? AllGradients(&combined_, 1) : predictions_.gradients(); }
  size_t tree_of(size_t output) const { return for_all_ ? 0 : output; }
  RowPartition::Bins bins() const {
    return [this](const SplitRule& rule, std::span<const Row> rows, std::uint8_t* out) {
      singles_.gather(rule.column, rows, out);
    };
  }
  void begin_screening();
  void let_wait(std::span<const SplitRule> splits, std::span<const size_t> leaves, Level& next) const;
  void add_up_level(std::span<const std::uint8_t> open, bool squares);

  const Sample train_;
  const Weights& weights_;
  Loss& loss_;
  EngineOptions options_;
  Context& context_;
  TableFacts facts_;
  double min_weight_;

  Predictions predictions_;
  DrawnRows drawn_;
  RowPartition partition_;
  LookedRows looked_;
  OrderedRows rows_;
  Level level_;
  std::vector<NodeSums> roots_;                // by tree
  std::vector<std::vector<OpenNode>> leaves_;  // by tree
  bool for_all_ = false;                       // one tree grows for all outputs
  GridGradients combined_;                     // the gradients of that tree
  std::vector<std::uint64_t> row_keys_;        // empty until the first probe

  PackedColumns owned_, offered_;
  SingleColumns singles_;
  std::vector<GroupSearch> search_;  // by pool
  GroupSearch single_search_;
  SparseSearch sparse_search_;
  ScoredColumns lines_;
  std::unique_ptr<RowSample> sample_;
  bool screening_ = false;  // the trees of this iteration are screened by the sample
};

}  // namespace frugal
