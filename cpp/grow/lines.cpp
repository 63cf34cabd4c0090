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
  has_line_.resize(table.columns.size());
  const std::vector<ScoreSums> sums = engine.score_sums(ordered);
  for (size_t i = 0; i < ordered.size(); ++i) {
    scores_[ordered[i]] = sums[i];
    has_line_[ordered[i]] = Int128{table.weight} * sums[i].squares > Int128{sums[i].scores} * sums[i].scores;
    if (has_line_[ordered[i]]) columns_.push_back(ordered[i]);
  }
  computed_.resize(engine.outputs());
  known_.assign(engine.outputs(), std::vector<Known>(scores_.size()));
}

void Lines::begin_trees() {
  for (size_t k = 0; k < known_.size(); ++k) {
    computed_[k].clear();
    const double move = alone_ ? engine_.gradient_move(k) : kInfinity;
    for (size_t c : columns_) {
      known_[k][c].root = (known_[k][c].root + move) * kRoundingSlack;
      known_[k][c].gain = -1.0;
    }
  }
}

double line_slope(Int128 product, const ScoreSums& scores, const GradientFacts& gradients, const TableFacts& table) {
  // Both products are exact: at most 2^36 * 2^78.
  return real(Int128{table.weight} * product - Int128{gradients.total} * scores.scores);
}

double line_gain(Int128 product, const ScoreSums& scores, const GradientFacts& gradients, const TableFacts& table) {
  const std::int64_t weight = table.weight;
  // These are exact too: at most 2^36 * 2^66.
  const double along = line_slope(product, scores, gradients, table);
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
    const std::int8_t trend = engine_.table().columns[wanted[i]].trend;
    if (trend * line_slope(products[i], scores_[wanted[i]], gradients, engine_.table()) < 0) known.gain = 0.0;
    computed_[output].push_back(wanted[i]);
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

// The net gain that a line must reach to matter.
double Lines::least(const LineOffer& best) const {
  return std::max(best.column == kNone ? -kInfinity : best.net, worth_.least_gain({}));
}

std::vector<Lines::Possible> Lines::possible(size_t output, const LineOffer& best) const {
  const double enough = least(best);
  std::vector<Possible> found;
  for (size_t c : columns_) {
    const Known& known = known_[output][c];
    const double most = 0.5 * known.root * known.root * kRoundingSlack;
    if (known.gain >= 0 || !(most >= enough) || !worth_.ledger().can_buy(c)) continue;
    if (most >= worth_.limit(c, enough)) found.push_back({most, worth_.net(c, most), c});
  }
  return found;
}

LineOffer Lines::best(size_t output) {
  std::vector<size_t> owned;
  for (const Purchase& p : worth_.ledger().purchases())
    if (has_line_[p.feature]) owned.push_back(p.feature);
  compute(output, owned);
  LineOffer best;
  judge(output, computed_[output], best);
  // The most promising columns first, because their gains rule out others. Without bounds all are computed at once.
  std::vector<Possible> open = possible(output, best);
  for (size_t at_once = kAtOnce; !open.empty(); at_once *= 2) {
    const bool all = open.size() <= at_once || !(open[0].most < kInfinity);
    const auto end = all ? open.end() : open.begin() + narrow<std::ptrdiff_t>(at_once);
    if (!all)
      std::nth_element(open.begin(), end, open.end(), [](const auto& a, const auto& b) { return a.net > b.net; });
    std::vector<size_t> next;
    for (auto p = open.begin(); p != end; ++p) next.push_back(p->column);
    std::sort(next.begin(), next.end());
    compute(output, next);
    judge(output, next, best);
    open.erase(open.begin(), end);
    const double enough = least(best);
    std::erase_if(open, [&](const Possible& p) { return !(p.most >= worth_.limit(p.column, enough)); });
  }
  return best;
}

void Lines::raise(size_t output, std::vector<double>& root_gains) {
  compute(output, columns_);
  for (size_t c : columns_) root_gains[c] = std::max(root_gains[c], known_[output][c].gain);
}

}  // namespace frugal
