#include "grow/sparse_columns.hpp"

#include <algorithm>
#include <cmath>

#include "support/fixed_point.hpp"

namespace frugal {

SparseColumns::SparseColumns(Engine& engine, const Worth& worth, double min_weight)
    : engine_(engine), worth_(worth), least_weight_(scaled(min_weight, -engine.table().weight_shift)) {
  const auto& columns = engine.table().columns;
  for (size_t c = 0; c < columns.size(); ++c)
    if (columns[c].sparse && real(columns[c].listed_weight) >= min_weight) worth_searching_.push_back(c);
}

void SparseColumns::begin_trees(size_t trees) {
  trees_ = trees;
  ++iterations_;
  measured_ = false;
}

void SparseColumns::measure(std::span<const size_t> columns) {
  if (measured_) return;
  measured_ = true;
  listed_.resize(trees_);
  for (size_t k = 0; k < listed_.size(); ++k) {
    const std::vector<ListedSums> sums = engine_.listed(k, columns);
    listed_[k].resize(engine_.table().columns.size());
    for (size_t i = 0; i < columns.size(); ++i) listed_[k][columns[i]] = sums[i];
  }
}

// The gain that a column must exceed at a node. `price`: mu times its price, without what rows pay.
double SparseColumns::limit(size_t column, double price, const Demand& demand) const {
  return worth_.ledger().by_rows(column) ? worth_.limit(*demand.at, column, demand.least_gain)
                                         : demand.least_gain + price;
}

// One side of a split on a sparse column has only listed rows, which bounds the gain.
bool SparseColumns::listed_may_pay(size_t column, double price, std::span<const Demand> demands) const {
  for (const Demand& d : demands) {
    const ListedSums& listed = listed_[d.output][column];
    const double length = std::sqrt(listed.squares), root = std::sqrt(listed.weight);
    const double most = (length + root * d.mean) * kRoundingSlack;
    const double rest = std::max(d.weight - listed.weight, least_weight_);
    if (0.5 * most * most * (d.weight / rest) * kRoundingSlack > limit(column, price, d)) return true;
  }
  return false;
}

// From the gains of the column at earlier roots, and how far the gradients have moved since.
bool SparseColumns::root_may_pay(size_t column, double price, std::span<const Demand> demands,
                                 const RootBounds& bounds) const {
  return std::any_of(demands.begin(), demands.end(),
                     [&](const Demand& d) { return bounds.bound(d.output, column) > limit(column, price, d); });
}

// The nodes at which the bound for any split exceeds the limit of the cheapest column.
std::vector<SparseColumns::Demand> SparseColumns::demands(const Question& question) const {
  std::vector<Demand> out;
  const int weight_shift = engine_.table().weight_shift;
  for (size_t node : question.nodes) {
    const Node& open = question.level[node];
    const GradientFacts gradients = engine_.tree_gradients(open.output);
    const double least = question.least_gains[node];
    if (question.screening && !(most_gain(open.sums, gradients, weight_shift) > least + cheapest_)) continue;
    const double mean = real(open.sums.gradient) / real(open.sums.weight);
    out.push_back({node, open.output, least, scaled(real(open.sums.weight), -weight_shift),
                   std::abs(scaled(mean, -gradients.shift)), &open});
  }
  return out;
}

SparseColumns::Answer SparseColumns::left(const Question& question, Context& context) {
  const std::vector<Demand> open = demands(question);
  Answer answer;
  if (open.empty()) return answer;
  for (const Demand& d : open) answer.nodes.push_back(d.node);
  if (!question.only_new) {
    answer.columns.assign(question.columns.begin(), question.columns.end());
    return answer;
  }
  if (question.screening && !question.root_bounds) measure(question.columns);
  std::vector<std::uint8_t> alive(prices_.size(), 1);
  const double work = question.root_bounds ? 4.0 : 6.0 * real(open.size());
  if (question.screening)
    context.over_blocks(prices_.size(), 256, work, [&](size_t begin, size_t end, size_t) {
      for (size_t i = begin; i < end; ++i) {
        const auto& [column, price] = prices_[i];
        alive[i] = question.root_bounds ? root_may_pay(column, price, open, *question.root_bounds)
                                        : listed_may_pay(column, price, open);
      }
    });
  for (size_t i = 0; i < prices_.size(); ++i)
    if (alive[i]) answer.columns.push_back(prices_[i].first);
  return answer;
}

}  // namespace frugal
