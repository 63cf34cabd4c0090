#include "grow/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "grow/grower.hpp"
#include "support/fixed_point.hpp"

namespace frugal {
namespace {

// The smallest mu, in the unit given, at which no root split pays: max gain / price, exact to the last bit.
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
  // Rounding is off by a few units in the last place; where products underflow there is no last bit to find.
  for (int i = 0; i < 64 && !nothing_pays(mu); ++i) mu = std::nextafter(mu, kInfinity);
  for (int i = 0; i < 64 && nothing_pays(std::nextafter(mu, 0.0)); ++i) mu = std::nextafter(mu, 0.0);
  return mu;
}

// Gains far below the first impurity are still numbers of full precision.
constexpr double kLeastImpurity = 0x1p-900;

// Gradients that differ by less than this share of their spread, and losses by less than that, are taken as the same.
constexpr double kSettled = 0.01, kSettledLoss = 1e-3, kSettledOfFirst = 1e-9;
// Of a full step: rows at its very end have other gradients, and shorter steps never get there.
constexpr double kAlmost = 1.0 - 0x1p-20;

class Booster {
 public:
  Booster(Engine& engine, Ledger ledger, const Params& params, const Progress& from, Context& context)
      : engine_(engine), ledger_(std::move(ledger)), params_(params), from_(from), context_(context) {
    for (const auto& p : from.purchases) ledger_.restore(p);
    out_.iterations = from.iterations;
    opening_ = from.purchases.empty();
    for (size_t i = 0; i < from.validation_losses.size(); ++i)
      best_.judge(from.validation_losses[i], static_cast<int>(i), params.tol);
    root_gain_.assign(ledger_.features(), 0.0);
    set_start();
  }

  Boosted run(const Observer& observer) {
    Grower grower(engine_, params_, ledger_, out_.mu, from_.draw, context_);
    while (true) {
      observer(record());
      if (params_.early_stopping && out_.iterations - best_.iteration >= params_.n_iter_no_change) {
        out_.ending = Ending::early_stopping;
        break;
      }
      if (out_.ending == Ending::converged || out_.iterations >= params_.max_iter) break;
      iterate(grower);
    }
    out_.best_iteration = params_.early_stopping ? best_.iteration : out_.iterations;
    out_.purchases = ledger_.purchases();
    out_.draw = grower.draw_state();
    return std::move(out_);
  }

 private:
  // Far from the best constant, losses with straight arms have equal gradients: no scale to measure mu by. So it is
  // measured there, wherever boosting starts.
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

  // From the best constant to zero. Where splits gain something else there, what they gain at the best constant counts
  // for mu_max too: that is where constants lead, and something may be bought on the way.
  void leave_best(const std::vector<double>& best) {
    if (!opening_) return;
    derive_at(std::vector<double>(best.size(), 0.0));
    if (alike(engine_.moved(best, best))) return;
    derive_at(best);
    Grower(engine_, params_, ledger_, out_.mu, {}, context_).look(root_gain_);
  }

  // mu in absolute units; a share refers to the impurity of the gradients at the best constant, outputs added, the
  // smallest first: the sum must not depend on the order of classes.
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
    best_.judge(losses.validation, out_.iterations, params_.tol);
    out_.records.push_back({out_.iterations, losses.train, losses.validation,
                            static_cast<int>(ledger_.purchases().size()), ledger_.paid()});
    return out_.records.back();
  }

  // One tree for each output, all on the gradients of the same raw predictions.
  void iterate(Grower& grower) {
    const size_t owned_before = ledger_.purchases().size();
    engine_.derive();
    std::vector<GrownTree> trees = grower.grow(opening_ ? &root_gain_ : nullptr);
    const bool any_split = std::any_of(trees.begin(), trees.end(), [](const auto& t) { return t.tree.nodes() > 1; });
    if (!any_split && grower.looked_at_all() && settled()) out_.ending = Ending::converged;
    for (size_t k = 0; k < trees.size(); ++k) finish(trees[k], k);
    ++out_.iterations;
    out_.purchase_iterations.insert(out_.purchase_iterations.end(), ledger_.purchases().size() - owned_before,
                                    out_.iterations);
    if (opening_)
      out_.mu_max = natural_top(root_gain_, ledger_, params_.mu_unit == MuUnit::share ? out_.impurity : 1.0);
    opening_ = opening_ && !any_split;
    grower.look_at_all(!any_split);  // before it is over, every column is asked
  }

  // What the leaves of an output's tree add at full length: a Newton step (sum w g / (sum w h + l2)), the mean of g, or
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

  // The leaf values of a grown tree, and what they do to the raw predictions.
  void finish(GrownTree& grown, size_t output) {
    std::vector<double> values = full_steps(output, params_.leaf_values, params_.l2_regularization);
    for (size_t i = 0; i < values.size(); ++i)
      grown.tree.value[grown.leaves[i]] = values[i] = params_.learning_rate * values[i];
    engine_.add_tree(output, grown.tree, values);
    out_.ensemble.add(grown.tree);
  }

  // In an iteration without a split: whether nothing would ever change. Constants are added again and again, and lead
  // to just before where the Newton step, or the quantile, of all rows does at its full length: there the loss must be
  // the same, and so must the differences of gradients, on which gains depend. Absolute errors far from zero have
  // hardly any: constants must first bring predictions to where the rows are.
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

  // Whether gradients differ between rows in the same way here and there.
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
  const Progress& from_;
  Context& context_;
  BestIteration best_;
  Boosted out_;
  bool opening_ = false;           // nothing has been split so far
  std::vector<double> root_gain_;  // of each column, at most, at the roots so far
};

}  // namespace

Boosted boost(Engine& engine, Ledger ledger, const Params& params, const Progress& from, const Observer& observer,
              Context& context) {
  return Booster(engine, std::move(ledger), params, from, context).run(observer);
}

}  // namespace frugal
