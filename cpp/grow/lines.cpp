#include "grow/lines.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "support/fixed_point.hpp"

namespace frugal {
namespace {

constexpr size_t kAtOnce = 256;  // columns whose gains are computed before bounds are compared again

}  // namespace

Lines::Lines(Engine& engine, const Worth& worth, bool alone) : engine_(engine), worth_(worth), alone_(alone) {
  const TableFacts& table = engine.table();
  std::vector<size_t> ordered;
  for (size_t c = 0; c < table.columns.size(); ++c)
    if (!table.columns[c].categorical && table.columns[c].bins > 1) ordered.push_back(c);
  scores_.resize(table.columns.size());
  const std::vector<ScoreSums> sums = engine.score_sums(ordered);
  for (size_t i = 0; i < ordered.size(); ++i) {
    scores_[ordered[i]] = sums[i];
    if (Int128{table.weight} * sums[i].squares > Int128{sums[i].scores} * sums[i].scores)
      columns_.push_back(ordered[i]);
  }
  known_.assign(engine.outputs(), std::vector<Known>(scores_.size()));
}

void Lines::begin_trees() {
  for (size_t k = 0; k < known_.size(); ++k) {
    const double move = alone_ ? engine_.gradient_move(k) : kInfinity;
    for (size_t c : columns_) {
      known_[k][c].root = (known_[k][c].root + move) * kRoundingSlack;
      known_[k][c].gain = -1.0;
    }
  }
}

double line_gain(Int128 product, const ScoreSums& scores, const GradientFacts& gradients, const TableFacts& table) {
  const std::int64_t weight = table.weight;
  // All three are exact: at most 2^36 * 2^78 and 2^36 * 2^66.
  const double along = real(Int128{weight} * product - Int128{gradients.total} * scores.scores);
  const double spread = real(Int128{weight} * scores.squares - Int128{scores.scores} * scores.scores);
  const double factor = scaled(0.5, -2 * gradients.shift - table.weight_shift) / real(weight);
  return along * (along / spread) * factor;
}

void Lines::compute(size_t output, std::span<const size_t> columns) {
  std::vector<size_t> wanted;
  for (size_t c : columns)
    if (known_[output][c].gain < 0) wanted.push_back(c);
  if (wanted.empty()) return;
  const std::vector<Int128> products = engine_.score_gradients(output, wanted);
  const GradientFacts gradients = engine_.gradients(output);
  for (size_t i = 0; i < wanted.size(); ++i) {
    Known& known = known_[output][wanted[i]];
    known.gain = line_gain(products[i], scores_[wanted[i]], gradients, engine_.table());
    known.root = std::sqrt(2.0 * known.gain) * kRoundingSlack;
  }
}

bool Lines::better(const LineOffer& a, const LineOffer& b) const {
  if (b.column == kNone || a.net != b.net) return b.column == kNone || a.net > b.net;
  const Ledger& ledger = worth_.ledger();
  auto rest = [&](size_t c) { return std::tuple(!ledger.owned(c), ledger.price(c), c); };
  return rest(a.column) < rest(b.column);
}

void Lines::judge(size_t output, std::span<const size_t> columns, LineOffer& best) const {
  for (size_t c : columns) {
    const double gain = known_[output][c].gain;
    if (!(gain > 0) || !worth_.ledger().can_buy(c)) continue;
    const LineOffer offer{c, gain, worth_.net(c, gain)};
    if (better(offer, best)) best = offer;
  }
}

// Columns whose bounds allow a better line, the most promising first.
std::vector<size_t> Lines::possible(size_t output, const LineOffer& best) const {
  const double least = std::max(best.column == kNone ? -kInfinity : best.net, worth_.least_gain({}));
  std::vector<std::pair<double, size_t>> found;
  for (size_t c : columns_) {
    const Known& known = known_[output][c];
    if (known.gain >= 0 || !worth_.ledger().can_buy(c)) continue;
    const double most = 0.5 * known.root * known.root * kRoundingSlack;
    if (most >= worth_.limit(c, least)) found.push_back({worth_.net(c, most), c});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a > b; });
  std::vector<size_t> out;
  for (const auto& [net, column] : found) out.push_back(column);
  return out;
}

LineOffer Lines::best(size_t output) {
  std::vector<size_t> owned;
  for (size_t c : columns_)
    if (worth_.ledger().owned(c)) owned.push_back(c);
  compute(output, owned);
  LineOffer best;
  judge(output, columns_, best);
  while (true) {
    std::vector<size_t> next = possible(output, best);
    if (next.empty()) return best;
    // Without bounds all are computed at once.
    if (known_[output][next[0]].root < kInfinity) next.resize(std::min(next.size(), kAtOnce));
    std::sort(next.begin(), next.end());
    compute(output, next);
    judge(output, next, best);
  }
}

void Lines::raise(size_t output, std::vector<double>& root_gains) {
  compute(output, columns_);
  for (size_t c : columns_) root_gains[c] = std::max(root_gains[c], known_[output][c].gain);
}

}  // namespace frugal
