#include "grow/boosting.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "grow/grower.hpp"
#include "support/fixed_point.hpp"

namespace frugal {
namespace {

// The smallest mu, in the user's unit, at which no root split pays: max gain / price, exact to the last bit.
double natural_top(std::span<const double> root_gain, const Ledger& ledger, double unit) {
  double top = 0.0;
  auto priced = [&](size_t f) { return ledger.start_price(f) > 0 && ledger.within_budget(ledger.start_price(f)); };
  for (size_t f = 0; f < root_gain.size(); ++f)
    if (priced(f) && root_gain[f] > 0) top = std::max(top, root_gain[f] / ledger.start_price(f));
  if (!(top > 0) || !(unit > 0)) return 0.0;
  auto nothing_pays = [&](double mu) {
    for (size_t f = 0; f < root_gain.size(); ++f)
      if (priced(f) && root_gain[f] - mu * unit * ledger.start_price(f) > 0) return false;
    return true;
  };
  double mu = top / unit;
  // Rounding errors are a few units in the last place. If products underflow, no last bit is found: hence the limit.
  for (int i = 0; i < 64 && !nothing_pays(mu); ++i) mu = std::nextafter(mu, kInfinity);
  for (int i = 0; i < 64 && nothing_pays(std::nextafter(mu, 0.0)); ++i) mu = std::nextafter(mu, 0.0);
  return mu;
}

// With at least this impurity, gains far below it still have full precision.
constexpr double kLeastImpurity = 0x1p-900;

// Gradients are taken as equal if they differ by less than kSettled times their spread; losses, if they differ by less
// than kSettledLoss times the loss or kSettledOfFirst times the first loss.
constexpr double kSettled = 0.01, kSettledLoss = 1e-3, kSettledOfFirst = 1e-9;
// If rows with curvature have almost the same score, no slope can be told.
constexpr double kLeastDeterminant = 1e-12;
// Shorter steps approach the end of a full step but never reach it, and at the very end some rows have other gradients.
constexpr double kAlmost = 1.0 - 0x1p-20;

class Booster {
 public:
  Booster(Engine& engine, Ledger ledger, const Params& params, const Constraints& constraints, const Progress& from,
          Context& context)
      : engine_(engine),
        ledger_(std::move(ledger)),
        params_(params),
        constraints_(constraints),
        from_(from),
        context_(context) {
    if (constraints.has_trends()) engine.constrain(constraints.trends);
    for (const auto& p : from.purchases) ledger_.restore(p);
    if (ledger_.by_rows()) restore_looks();
    out_.iterations = from.iterations;
    opening_ = from.purchases.empty();
    see_all_ = !from.split_last;
    for (int iteration = 0; double loss : from.validation_losses) best_.judge(loss, iteration++, params.tol);
    root_gain_.assign(ledger_.features(), 0.0);
    set_start();
  }

  Boosted run(const Observer& observer, const Judge& judge) {
    Grower grower(engine_, params_, constraints_, ledger_, out_.mu, from_.draw, context_);
    while (true) {
      observer(record());
      const Record& last = out_.records.back();
      const Verdict verdict = judge ? judge(last, ledger_.purchases()) : Verdict{};
      best_.judge(verdict.instead_of_loss.value_or(last.validation_loss), out_.iterations, params_.tol);
      if (params_.early_stopping && out_.iterations - best_.iteration >= params_.n_iter_no_change) {
        out_.ending = Ending::early_stopping;
        break;
      }
      if (out_.ending == Ending::converged || out_.iterations >= params_.max_iter) break;
      if (verdict.stop && out_.iterations > from_.iterations) {
        out_.ending = Ending::callback;
        break;
      }
      iterate(grower);
    }
    out_.best_iteration = params_.early_stopping ? best_.iteration : out_.iterations;
    out_.purchases = ledger_.purchases();
    out_.draw = grower.draw_state();
    return std::move(out_);
  }

 private:
  void restore_looks() {
    engine_.keep_looks();
    std::vector<size_t> columns;
    for (const Purchase& p : from_.purchases)
      if (ledger_.by_rows(p.feature)) columns.push_back(p.feature);
    const std::vector<std::int64_t> looked = engine_.looked(columns);
    for (size_t i = 0; i < columns.size(); ++i) ledger_.look(columns[i], looked[i]);
  }

  // mu is measured by the gradients at the best constant, wherever boosting starts: far from it, losses with linear
  // arms have equal gradients, which give no scale.
  void set_start() {
    const std::vector<double> best = engine_.best_constant();
    auto& start = out_.ensemble.start;
    start = from_.start;
    if (start.empty()) start = params_.init == Init::prior ? best : std::vector<double>(best.size(), 0.0);
    derive_at(params_.init == Init::prior ? start : best);
    set_mu();
    if (params_.init == Init::zero) leave_best(best);
    engine_.predict(start);
    if (!from_.start.empty()) engine_.predict_as_before();
  }

  void derive_at(const std::vector<double>& constants) {
    engine_.predict(constants);
    engine_.losses();
    engine_.derive();
  }

  // For a start at zero. If gains there differ from those at the best constant, the latter count for mu_max too: trees
  // without splits lead to the best constant, and something may be bought on the way.
  void leave_best(const std::vector<double>& best) {
    if (!opening_) return;
    derive_at(std::vector<double>(best.size(), 0.0));
    if (alike(engine_.moved(best, best))) return;
    derive_at(best);
    Grower(engine_, params_, constraints_, ledger_, out_.mu, {}, context_).look(root_gain_);
  }

  // mu in absolute units. As a share it refers to the impurity of the gradients at the best constant, summed over
  // outputs, the smallest first, so that the sum does not depend on the order of classes.
  void set_mu() {
    std::vector<double> impurities;
    for (size_t k = 0; k < engine_.outputs(); ++k) {
      impurities.push_back(engine_.impurity(k));
      if (!engine_.gradients(k).constant() && impurities.back() < kLeastImpurity)
        throw std::domain_error("The gradients are too small to be squared. Rescale y or the weights.");
    }
    std::sort(impurities.begin(), impurities.end());
    for (double impurity : impurities) out_.impurity += impurity;
    out_.mu = params_.mu_unit == MuUnit::share ? params_.mu * out_.impurity : params_.mu;
  }

  const Record& record() {
    const Losses losses = engine_.losses();
    out_.records.push_back({out_.iterations, losses.train, losses.validation, ledger_.purchases().size(),
                            ledger_.paid(), ledger_.paid_by_rows()});
    return out_.records.back();
  }

  // One tree for each output, or one for all, on the gradients of the same raw predictions. Until something is split,
  // a tree for all outputs keeps its direction: if nothing pays in it, boosting ends, and mu_max says so.
  void iterate(Grower& grower) {
    const size_t owned_before = ledger_.purchases().size();
    engine_.derive();
    // Until something is split, trees see all rows and columns, so that mu_max says at which mu nothing pays; so they
    // do after an iteration without a split, which may have been for want of rows or columns.
    const size_t number = index(out_.iterations);
    const Drawn now = opening_ || see_all_ ? Drawn{} : drawn(params_, ledger_.features(), number);
    std::vector<GrownTree> trees = grower.grow(opening_ ? 0 : number, now, opening_ ? &root_gain_ : nullptr);
    const bool any_split =
        std::any_of(trees.begin(), trees.end(), [](const auto& t) { return t.tree.nodes() > 1 || t.tree.is_line(); });
    if (!any_split && now.all() && grower.looked_at_all() && settled()) out_.ending = Ending::converged;
    if (trees.size() < engine_.outputs()) trees = one_each(trees[0]);
    for (size_t k = 0; k < trees.size(); ++k) finish(trees[k], k);
    ++out_.iterations;
    out_.purchase_iterations.insert(out_.purchase_iterations.end(), ledger_.purchases().size() - owned_before,
                                    out_.iterations);
    if (opening_)
      out_.mu_max = natural_top(root_gain_, ledger_, params_.mu_unit == MuUnit::share ? out_.impurity : 1.0);
    opening_ = opening_ && !any_split;
    // Boosting ends only after all columns were searched, on all rows.
    grower.look_at_all(!any_split);
    see_all_ = !any_split;
  }

  // The tree of all outputs as one for each, among which its gains are divided.
  std::vector<GrownTree> one_each(GrownTree tree) {
    for (double& gain : tree.tree.gain) gain /= real(engine_.outputs());
    return std::vector<GrownTree>(engine_.outputs(), tree);
  }

  // The values of a tree's leaves before the learning rate: a Newton step (sum w g / (sum w h + l2)), the mean of g, or
  // a quantile of the residuals y - raw for losses without curvature.
  std::vector<double> full_steps(size_t output, LeafValues how, double l2) {
    if (engine_.leaf_quantile() >= 0) return engine_.leaf_quantiles(output, engine_.leaf_quantile());
    const double longest = engine_.step_limit(), added = scaled(l2, engine_.table().weight_shift);
    std::vector<double> steps;
    for (const LeafSums& leaf : engine_.leaf_sums(output)) {
      const double below = how == LeafValues::newton ? leaf.curvature + added : leaf.weight;
      steps.push_back(std::clamp(below > 0 ? leaf.gradient / below : 0.0, -longest, longest));
    }
    return steps;
  }

  // Intercept and slope of a line before the learning rate, by the rules for leaf values: a Newton step in both, the
  // least squares line through the gradients, or quantiles.
  std::array<double, 2> full_line(size_t output, size_t column) {
    if (engine_.leaf_quantile() >= 0) {
      const double level = engine_.leaf_quantile(), intercept = engine_.leaf_quantiles(output, level)[0];
      return {intercept, engine_.line_quantile(output, column, intercept, level)};
    }
    LineSums s = engine_.line_sums(output, column);
    double added = scaled(params_.l2_regularization, engine_.table().weight_shift);
    if (params_.leaf_values == LeafValues::gradient) {
      const ScoreSums scores = engine_.score_sums({&column, 1})[0];
      s.h = real(engine_.root(output).weight);
      s.hz = scaled(real(scores.scores), -kScoreBits);
      s.hzz = scaled(real(scores.squares), -2 * kScoreBits);
      added = 0.0;
    }
    const double h = s.h + added, hzz = s.hzz + added, determinant = h * hzz - s.hz * s.hz;
    const double longest = engine_.step_limit();
    if (!(determinant > kLeastDeterminant * h * hzz)) return {0.0, 0.0};
    return {std::clamp((hzz * s.g - s.hz * s.gz) / determinant, -longest, longest),
            std::clamp((h * s.gz - s.hz * s.g) / determinant, -longest, longest)};
  }

  // A line whose step goes another way than a constraint allows is only a constant.
  void finish_line(Tree& tree, size_t output) {
    const size_t column = index(tree.line[0]);
    auto [intercept, slope] = full_line(output, column);
    if (engine_.table().columns[column].trend * slope < 0) {
      slope = 0.0;
      intercept = full_steps(output, params_.leaf_values, params_.l2_regularization)[0];
    }
    tree.value[0] = params_.learning_rate * intercept;
    tree.slope[0] = params_.learning_rate * slope;
    engine_.add_line(output, column, tree.value[0], tree.slope[0]);
  }

  // Sets the leaf values of a grown tree, and adds it to the raw predictions and to the ensemble.
  void finish(GrownTree& grown, size_t output) {
    if (grown.tree.is_line()) {
      finish_line(grown.tree, output);
      return out_.ensemble.add(grown.tree);
    }
    std::vector<double> values = full_steps(output, params_.leaf_values, params_.l2_regularization);
    if (values.size() != grown.leaves.size()) throw std::logic_error("The engine must give sums for every leaf.");
    if (constraints_.has_trends()) put_in_order(grown.tree, constraints_.trends, grown.leaves, values);
    for (size_t i = 0; i < values.size(); ++i)
      grown.tree.value[grown.leaves[i]] = values[i] = params_.learning_rate * values[i];
    engine_.add_tree(output, grown.tree, values);
    out_.ensemble.add(grown.tree);
  }

  // After an iteration without a split: whether no later iteration could split either. Such iterations add constants,
  // which approach the full Newton step, or quantile, of all rows. If the loss and the differences between gradients,
  // on which gains depend, are the same there, nothing will change. They are not the same, for example, for absolute
  // errors if all predictions are far from y: constants must first bring them closer.
  bool settled() {
    std::vector<double> full, step;
    for (size_t k = 0; k < engine_.outputs(); ++k) {
      const double length = full_steps(k, LeafValues::newton, 0.0)[0];
      step.push_back(params_.learning_rate * length);
      full.push_back(kAlmost * length);
    }
    const Moved moved = engine_.moved(full, step);
    if (!moved.any) return true;
    const double loss = out_.records.back().train_loss, first = std::fabs(out_.records.front().train_loss);
    const double most = std::max(kSettledLoss * std::fabs(loss), kSettledOfFirst * first);
    return !(loss - moved.loss > most) && alike(moved);
  }

  // Whether the move leaves the differences between the gradients of rows almost unchanged.
  bool alike(const Moved& there) {
    for (size_t k = 0; k < there.outputs.size(); ++k) {
      const auto& own = there.outputs[k];
      if (own.constant && engine_.gradients(k).constant()) continue;
      if (!(own.squares <= kSettled * kSettled * 2.0 * own.impurity)) return false;
    }
    return true;
  }

  Engine& engine_;
  Ledger ledger_;
  const Params& params_;
  const Constraints& constraints_;
  const Progress& from_;
  Context& context_;
  BestIteration best_;
  Boosted out_;
  bool opening_ = false;           // nothing has been split so far
  bool see_all_ = false;           // the next trees see all rows and columns, since the last ones split nothing
  std::vector<double> root_gain_;  // the largest gain of each column at the roots so far
};

}  // namespace

Boosted boost(Engine& engine, Ledger ledger, const Params& params, const Constraints& constraints, const Progress& from,
              const Observer& observer, const Judge& judge, Context& context) {
  return Booster(engine, std::move(ledger), params, constraints, from, context).run(observer, judge);
}

}  // namespace frugal
