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
  for (size_t c = 0; c < table.columns.size(); ++c)
    if (!table.columns[c].categorical && table.columns[c].bins > 1) ordered_.push_back(c);
  scores_.resize(table.columns.size());
  has_line_.resize(table.columns.size());
  add_up_scores(table.weight);
  computed_.resize(engine.outputs());
  known_.assign(engine.outputs(), std::vector<Known>(scores_.size()));
}

void Lines::add_up_scores(std::int64_t weight) {
  columns_.clear();
  const std::vector<ScoreSums> sums = engine_.score_sums(ordered_);
  for (size_t i = 0; i < ordered_.size(); ++i) {
    const size_t c = ordered_[i];
    scores_[c] = sums[i];
    has_line_[c] = Int128{weight} * sums[i].squares > Int128{sums[i].scores} * sums[i].scores;
    if (has_line_[c]) columns_.push_back(c);
  }
}

void Lines::begin_trees(const RowDraw& draw) {
  const bool other_rows = some_rows_ || !draw.all();
  some_rows_ = !draw.all();
  if (other_rows) add_up_scores(engine_.root(0).weight);
  for (size_t k = 0; k < known_.size(); ++k) {
    computed_[k].clear();
    double move = alone_ && draw.all() ? engine_.gradient_move(k) : kInfinity;
    if (other_rows) move = kInfinity;
    for (size_t c : ordered_) {
      known_[k][c].root = (known_[k][c].root + move) * kRoundingSlack;
      known_[k][c].gain = -1.0;
    }
  }
}

double line_slope(Int128 product, const ScoreSums& scores, const NodeSums& seen) {
  // Both products are exact: at most 2^36 * 2^78.
  return real(Int128{seen.weight} * product - Int128{seen.gradient} * scores.scores);
}

double line_gain(Int128 product, const ScoreSums& scores, const NodeSums& seen, int gradient_shift, int weight_shift) {
  const std::int64_t weight = seen.weight;
  // These are exact too: at most 2^36 * 2^66.
  const double along = line_slope(product, scores, seen);
  const double spread = real(Int128{weight} * scores.squares - Int128{scores.scores} * scores.scores);
  const double factor = scaled(0.5, -2 * gradient_shift - weight_shift) / real(weight);
  return along * (along / spread) * factor;
}

void Lines::compute(size_t output, std::span<const size_t> columns) {
  std::vector<size_t> wanted;
  for (size_t c : columns)
    if (known_[output][c].gain < 0) wanted.push_back(c);
  if (wanted.empty()) return;
  const std::vector<Int128> products = engine_.score_gradients(output, wanted);
  const NodeSums seen = engine_.root(output);
  const int gradient_shift = engine_.gradients(output).shift, weight_shift = engine_.table().weight_shift;
  for (size_t i = 0; i < wanted.size(); ++i) {
    Known& known = known_[output][wanted[i]];
    known.gain = line_gain(products[i], scores_[wanted[i]], seen, gradient_shift, weight_shift);
    known.root = std::sqrt(2.0 * known.gain) * kRoundingSlack;
    const std::int8_t trend = engine_.table().columns[wanted[i]].trend;
    if (trend * line_slope(products[i], scores_[wanted[i]], seen) < 0) known.gain = 0.0;
    computed_[output].push_back(wanted[i]);
  }
}

bool Lines::better(const LineOffer& a, const LineOffer& b) const {
  if (b.column == kNone || a.net != b.net) return b.column == kNone || a.net > b.net;
  const Ledger& ledger = worth_.ledger();
  auto rest = [&](size_t c) { return std::tuple(!ledger.owned(c), price(c), c); };
  return rest(a.column) < rest(b.column);
}

void Lines::judge(size_t output, std::span<const size_t> columns, LineOffer& best) const {
  for (size_t c : columns) {
    const double gain = known_[output][c].gain;
    if (!(gain > 0) || !may_use(c)) continue;
    const LineOffer offer{c, gain, worth_.net_at(price(c), gain), price(c)};
    if (better(offer, best)) best = offer;
  }
}

// The net gain that a line must reach to matter.
double Lines::least(const LineOffer& best) const {
  return std::max(best.column == kNone ? -kInfinity : best.net, worth_.least_gain());
}

std::vector<Lines::Possible> Lines::possible(size_t output, const LineOffer& best) const {
  const double enough = least(best);
  std::vector<Possible> found;
  for (size_t c : columns_) {
    const Known& known = known_[output][c];
    const double most = 0.5 * known.root * known.root * kRoundingSlack;
    if (known.gain >= 0 || !(most >= enough) || !may_use(c)) continue;
    if (most >= limit(c, enough)) found.push_back({most, worth_.net_at(price(c), most), c});
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
    std::erase_if(open, [&](const Possible& p) { return !(p.most >= limit(p.column, enough)); });
  }
  return best;
}

void Lines::raise(size_t output, std::vector<double>& root_gains) {
  compute(output, columns_);
  for (size_t c : columns_) root_gains[c] = std::max(root_gains[c], known_[output][c].gain);
}

}  // namespace frugal
