#include "grow/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "data/merging.hpp"
#include "engine/cpu/leaves.hpp"
#include "grow/grower.hpp"
#include "loss/gradients.hpp"
#include "support/limits.hpp"
#include "tree/predict.hpp"

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
  Booster(const Sample& train, const Sample* validation, Loss& loss, Ledger ledger, const Params& params,
          const Progress& from, Context& context)
      : train_(train),
        validation_(validation),
        loss_(loss),
        ledger_(std::move(ledger)),
        params_(params),
        context_(context) {
    for (const auto& p : from.purchases) ledger_.restore(p);
    out_.iterations = from.iterations;
    opening_ = from.purchases.empty();
    for (size_t i = 0; i < from.validation_losses.size(); ++i) judge(from.validation_losses[i], static_cast<int>(i));
    set_start(from);
  }

  Boosted run(const Observer& observer) {
    Grower grower(train_.X, *train_.target.weights, gradients_.size(), params_, ledger_, out_.mu);
    while (true) {
      observer(record());
      if (params_.early_stopping && out_.iterations - out_.best_iteration >= params_.n_iter_no_change) {
        out_.ending = Ending::early_stopping;
        break;
      }
      if (out_.ending == Ending::converged || out_.iterations >= params_.max_iter) break;
      iterate(grower);
    }
    if (!params_.early_stopping) out_.best_iteration = out_.iterations;
    out_.purchases = ledger_.purchases();
    return std::move(out_);
  }

 private:
  size_t rows() const { return train_.target.rows(); }
  int outputs() const { return loss_.outputs(); }

  void set_start(const Progress& from) {
    auto best = loss_.start(train_.target, context_);
    auto& start = out_.ensemble.start;
    start = from.start;
    if (start.empty()) start = params_.init == Init::prior ? best : std::vector<double>(best.size(), 0.0);
    gradients_.resize(static_cast<size_t>(outputs()));
    const bool keep_all = rows() * gradients_.size() * 2 * sizeof(double) <= kDerivativesBytes;
    d_.resize(keep_all ? gradients_.size() : 1);
    for (Derivatives& d : d_) {
      d.g.resize(rows());
      d.h.resize(rows());
    }
    root_gain_.assign(ledger_.features(), 0.0);
    // Far from the best constant, losses with straight arms have equal gradients: no scale to measure mu by.
    spread(params_.init == Init::prior ? start : best, rows(), raw_);
    set_mu();
    if (params_.init == Init::zero) leave_best(start);
    if (!from.start.empty()) raw_ = from.raw;
    if (validation_) spread(start, validation_->target.rows(), validation_raw_);
    if (validation_ && !from.start.empty()) validation_raw_ = from.validation_raw;
  }

  static void spread(const std::vector<double>& start, size_t rows, std::vector<double>& raw) {
    raw.clear();
    for (double s : start) raw.insert(raw.end(), rows, s);
  }

  // From the best constant to another start. Where splits gain something else there, what they gain at the best
  // constant counts for mu_max too: that is where constants lead, and something may be bought on the way.
  void leave_best(const std::vector<double>& start) {
    const std::vector<GridGradients> at_best = gradients_;
    spread(start, rows(), raw_);
    loss_.mean(train_.target, raw_.data(), context_);
    derive_all();
    if (opening_ && !alike(gradients_, at_best))
      Grower(train_.X, *train_.target.weights, at_best.size(), params_, ledger_, out_.mu)
          .look(at_best, context_, root_gain_);
  }

  // mu in absolute units; a share refers to the impurity of the gradients at the best constant, outputs added, the
  // smallest first: the sum must not depend on the order of classes.
  void set_mu() {
    loss_.mean(train_.target, raw_.data(), context_);
    derive_all();
    std::vector<double> impurities;
    for (const auto& g : gradients_) {
      impurities.push_back(g.impurity(*train_.target.weights, context_));
      if (g.lowest < g.highest && impurities.back() < kLeastImpurity)
        throw std::domain_error("The gradients are too small to be squared. Rescale y or the weights.");
    }
    std::sort(impurities.begin(), impurities.end());
    for (double impurity : impurities) out_.impurity += impurity;
    out_.mu = params_.mu_unit == MuUnit::share ? params_.mu * out_.impurity : params_.mu;
  }

  void judge(double validation_loss, int iteration) {
    if (!(validation_loss < best_loss_ - params_.tol)) return;
    best_loss_ = validation_loss;
    out_.best_iteration = iteration;
  }

  const Record& record() {
    Record r{out_.iterations, 0.0, std::numeric_limits<double>::quiet_NaN(),
             static_cast<int>(ledger_.purchases().size()), ledger_.paid()};
    // The training rows come last: a loss keeps what their derivatives need.
    if (validation_) r.validation_loss = loss_.mean(validation_->target, validation_raw_.data(), context_);
    at_hand_ = loss_.at_once();
    r.train_loss = at_hand_ ? loss_.mean_and_derivatives(train_.target, raw_.data(), d_[0], context_)
                            : loss_.mean(train_.target, raw_.data(), context_);
    if (validation_) judge(r.validation_loss, out_.iterations);
    out_.records.push_back(r);
    return out_.records.back();
  }

  // Derivatives of an output, unless they came with the loss. Where not all outputs' fit, the last one's are kept.
  Derivatives& derive(int output) {
    Derivatives& d = d_[d_.size() > 1 ? static_cast<size_t>(output) : 0];
    if (!at_hand_) {
      loss_.derivatives(train_.target, raw_.data(), output, d.g.data(), d.h.data(), context_);
      d.largest_g = d.largest_h = -1.0;
    }
    at_hand_ = false;
    return d;
  }

  // The same, after all outputs were derived.
  const Derivatives& derived(int output) {
    if (outputs() > 1 && d_.size() == 1) return derive(output);
    return d_[static_cast<size_t>(output)];
  }

  // Gradients of all outputs at the raw predictions as they are now.
  void derive_all() {
    for (int k = 0; k < outputs(); ++k) {
      const Derivatives& d = derive(k);
      gradients_[static_cast<size_t>(k)].set(d.g, d.largest_g, *train_.target.weights, context_);
    }
  }

  // One tree for each output, all on the gradients of the same raw predictions.
  void iterate(Grower& grower) {
    const size_t owned_before = ledger_.purchases().size();
    derive_all();
    std::vector<Tree> trees = grower.grow(gradients_, context_, opening_ ? &root_gain_ : nullptr);
    const bool any_split = std::any_of(trees.begin(), trees.end(), [](const Tree& tree) { return tree.nodes() > 1; });
    if (!any_split && grower.looked_at_all() && settled(grower)) out_.ending = Ending::converged;
    for (int k = 0; k < outputs(); ++k) finish(trees[static_cast<size_t>(k)], k, grower);
    ++out_.iterations;
    out_.purchase_iterations.insert(out_.purchase_iterations.end(), ledger_.purchases().size() - owned_before,
                                    out_.iterations);
    if (opening_)
      out_.mu_max = natural_top(root_gain_, ledger_, params_.mu_unit == MuUnit::share ? out_.impurity : 1.0);
    opening_ = opening_ && !any_split;
    grower.look_at_all(!any_split);  // before it is over, every column is asked
  }

  // The leaf values of a grown tree, and what they do to the raw predictions.
  void finish(Tree& tree, int output, const Grower& grower) {
    double* raw = raw_.data() + static_cast<size_t>(output) * rows();
    const auto leaves = grower.leaves(output);
    set_leaf_values(tree, leaves, grower.partition(), train_.target, raw, derived(output), loss_, params_, context_);
    add_leaf_values(tree, leaves, grower.partition(), raw, context_);
    if (validation_)
      add_tree(tree, validation_->X, validation_raw_.data() + static_cast<size_t>(output) * validation_->target.rows(),
               context_);
    out_.ensemble.add(tree);
  }

  // In an iteration without a split: whether nothing would ever change. Constants are added again and again, and lead
  // to just before where the Newton step, or the quantile, of all rows does at its full length: there the loss must be
  // the same, and so must the differences of gradients, on which gains depend. Absolute errors far from zero have
  // hardly any: constants must first bring predictions to where the rows are.
  bool settled(const Grower& grower) {
    Params full = params_;
    full.learning_rate = 1.0;
    full.leaf_values = LeafValues::newton;
    full.l2_regularization = 0.0;
    std::vector<double> there = raw_;
    bool moved = false;
    for (int k = 0; k < outputs(); ++k) {
      double* raw = there.data() + static_cast<size_t>(k) * rows();
      Tree constant;
      constant.add(0.0);
      set_leaf_values(constant, grower.leaves(k), grower.partition(), train_.target, raw, derived(k), loss_, full,
                      context_);
      const double step = params_.learning_rate * constant.value[0];
      for (size_t i = 0; i < rows(); ++i) {
        moved = moved || raw[i] + step != raw[i];
        raw[i] += kAlmost * constant.value[0];
      }
    }
    if (!moved) return true;
    const double loss = out_.records.back().train_loss, loss_there = loss_.mean(train_.target, there.data(), context_);
    std::vector<GridGradients> gradients_there(gradients_.size());
    std::vector<double> g(rows()), h(rows());
    for (int k = 0; k < outputs(); ++k) {
      loss_.derivatives(train_.target, there.data(), k, g.data(), h.data(), context_);
      gradients_there[static_cast<size_t>(k)].set(g, -1.0, *train_.target.weights, context_);
    }
    loss_.mean(train_.target, raw_.data(), context_);  // the loss keeps what derivatives here need
    const double first = std::fabs(out_.records.front().train_loss);
    const double most = std::max(kSettledLoss * std::fabs(loss), kSettledOfFirst * first);
    return !(loss - loss_there > most) && alike(gradients_, gradients_there);
  }

  // Whether gradients differ between rows in the same way here and there.
  bool alike(AllGradients here, AllGradients there) {
    for (size_t k = 0; k < here.size(); ++k) {
      if (here[k].lowest == here[k].highest && there[k].lowest == there[k].highest) continue;
      const double most = kSettled * kSettled * 2.0 * there[k].impurity(*train_.target.weights, context_);
      if (!(squared_move(here[k], there[k], *train_.target.weights, context_) <= most)) return false;
    }
    return true;
  }

  const Sample& train_;
  const Sample* validation_;
  Loss& loss_;
  Ledger ledger_;
  const Params& params_;
  Context& context_;
  double best_loss_ = kInfinity;
  Boosted out_;
  std::vector<GridGradients> gradients_;  // by output
  std::vector<Derivatives> d_;            // by output, or of one
  bool at_hand_ = false;                  // the first are those of the raw predictions as they are now
  bool opening_ = false;                  // nothing has been split so far
  std::vector<double> root_gain_;         // of each column, at most, at the roots so far
  std::vector<double> raw_, validation_raw_;
};

}  // namespace

Boosted boost(const Sample& train, const Sample* validation, Loss& loss, Ledger ledger, const Params& params,
              const Progress& from, const Observer& observer, Context& context) {
  const auto merged = loss.rowwise() ? merge_equal_rows(train.X, train.target, from.raw, context) : nullptr;
  if (!merged) return Booster(train, validation, loss, std::move(ledger), params, from, context).run(observer);
  Progress fewer = from;
  fewer.raw = merged->raw;
  const Sample distinct{*merged->X, {merged->y, &merged->weights}};
  return Booster(distinct, validation, loss, std::move(ledger), params, fewer, context).run(observer);
}

}  // namespace frugal
