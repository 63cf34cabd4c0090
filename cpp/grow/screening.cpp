#include "grow/screening.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "engine/cpu/kernels.hpp"
#include "support/limits.hpp"
#include "support/mixing.hpp"

namespace frugal {

double room_of(const OpenNode& node, const GridGradients& gradients, const Weights& weights) {
  const Wide numerator = node.squares * node.weight - Wide{node.gradient} * node.gradient;
  const double spread = static_cast<double>(numerator) / static_cast<double>(node.weight);
  return scaled(0.5 * spread, -2 * gradients.shift - weights.shift) * kSafe;
}

// Length of the difference between two trees' centred gradients; the later ones are kept.
double RootBounds::move(Output& from, const GridGradients& to, Context& context) const {
  constexpr size_t kBlock = 4096;
  const size_t n = to.q.size();
  std::vector<double> sums((n + kBlock - 1) / kBlock), squares(sums.size());
  // Both on the finer grid, so that the difference of whole numbers is a whole number of a double's size.
  const int finer = std::max(from.shift, to.shift);
  const double old_scale = scaled(1.0, finer - from.shift), new_scale = scaled(1.0, finer - to.shift);
  context.over_blocks(n, kBlock, 1.0, [&](size_t begin, size_t end, size_t block) {
    if (weights_.uniform()) {
      kernels().difference(end - begin, from.q.data() + begin, old_scale, to.q.data() + begin, new_scale, &sums[block],
                           &squares[block]);
      return;
    }
    for (size_t i = begin; i < end; ++i) {
      const double change = to.q[i] * new_scale - from.q[i] * old_scale, unit = static_cast<double>(weights_.units[i]);
      sums[block] += unit * change;
      squares[block] += unit * change * change;
      from.q[i] = to.q[i];
    }
  });
  const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  const double square = std::accumulate(squares.begin(), squares.end(), 0.0);
  const double spread = square - sum * sum / static_cast<double>(weights_.total);
  from.shift = to.shift;
  // What cancels in the difference may be rounding of `square`.
  return std::sqrt(scaled(std::max(spread, 0.0) + 1e-9 * square, -2 * finer - weights_.shift)) * kSafe;
}

void RootBounds::begin_trees(AllGradients gradients, Context& context) {
  outputs_.resize(gradients.size());
  for (size_t k = 0; k < gradients.size(); ++k) {
    Output& own = outputs_[k];
    if (!own.q.empty()) {
      own.way += move(own, gradients[k], context);
      continue;
    }
    own.length.assign(columns_, kInfinity);
    own.q = gradients[k].q;
    own.shift = gradients[k].shift;
  }
}

// The way is far longer than lengths in the end: what rounding may have taken from their difference is added.
double RootBounds::bound(int output, size_t column) const {
  const Output& own = outputs_[static_cast<size_t>(output)];
  const double length = (own.length[column] + own.way + 1e-14 * own.way) * kSafe;
  return 0.5 * length * length * kSafe;
}

void RootBounds::know(int output, size_t column, double gain) {
  Output& own = outputs_[static_cast<size_t>(output)];
  own.length[column] = std::sqrt(2.0 * std::max(gain, 0.0)) - own.way;
}

namespace {

// The same number for the same bins and gradients in the same rows, on any number of threads.
std::uint64_t key_of(const BinnedMatrix& X, const GridGradients& gradients, Context& context) {
  constexpr size_t kBlock = 2048;
  const Lanes lanes = X.lanes();
  std::vector<std::uint64_t> keys((X.rows() + kBlock - 1) / kBlock);
  context.over_blocks(X.rows(), kBlock, static_cast<double>(X.groups() + 4), [&](size_t begin, size_t end, size_t b) {
    std::array<std::uint64_t, kBlock> odd;  // a factor for each row
    std::uint64_t sum = 0;
    for (size_t i = begin; i < end; ++i) {
      odd[i - begin] = mixed((i + 1) * kMixStep) | 1;
      sum += odd[i - begin] * static_cast<std::uint64_t>(gradients.q[i]);
    }
    std::uint64_t key = mixed(sum + (b + 1) * kMixStep);
    for (size_t g = 0; g < X.groups(); ++g) {
      const std::uint64_t used = ~std::uint64_t{0} >> (64 - 8 * lanes.width(g));
      sum = 0;
      for (size_t i = begin; i < end; ++i) {
        std::uint64_t word;
        std::memcpy(&word, lanes.groups[g] + i * kLanes, sizeof word);
        sum += odd[i - begin] * (word & used);
      }
      key = mixed(key + sum);
    }
    keys[b] = key;
  });
  return std::accumulate(keys.begin(), keys.end(), std::uint64_t{0});
}

// The first rows of a random order of all.
std::vector<std::int64_t> random_rows(size_t rows, size_t wanted, std::uint64_t key) {
  std::vector<std::int64_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = 0; i < wanted; ++i) std::swap(order[i], order[i + mixed(key + (i + 1) * kMixStep) % (rows - i)]);
  order.resize(wanted);
  order.shrink_to_fit();
  return order;
}

std::vector<std::int64_t> all_dense(const BinnedMatrix& X) {
  std::vector<std::int64_t> columns;
  for (size_t p = 0; p < X.dense(); ++p) columns.push_back(static_cast<std::int64_t>(X.dense_column(p)));
  return columns;
}

}  // namespace

std::vector<std::int64_t> rows_to_sample(const BinnedMatrix& X, const GridGradients& first, std::uint64_t seed,
                                         Context& context) {
  const size_t share = X.rows() < kSampleManyRows ? kSampleShare : 2 * kSampleShare;
  return random_rows(X.rows(), X.rows() / share, mixed(key_of(X, first, context) + mixed(seed + kMixStep)));
}

// A miss takes a column that is worth buying, and there are at most as many purchases as columns. Each may be missed at
// five sizes of the sample: those of first_look, and all of it.
RowSample::RowSample(const BinnedMatrix& X, size_t outputs, std::vector<std::int64_t> chosen, double miss,
                     Context& context)
    : X_(X),
      z_(std::sqrt(2.0 * std::log(5.0 * static_cast<double>(X.dense()) / miss))),
      chosen_(std::move(chosen)),
      rows_(X, all_dense(X), chosen_, context),
      weights_(Weights::from({}, chosen_.size())),
      partition_(chosen_.size(), outputs),
      ordered_(weights_),
      search_(rows_, weights_, 1.0) {
  search_.use(rows_.lanes());
}

void RowSample::begin_trees(AllGradients gradients, Context& context) {
  gradients_.resize(gradients.size());
  nodes_.assign(gradients.size(), OpenNode{});
  for (size_t k = 0; k < gradients.size(); ++k) {
    gradients_[k].shift = gradients[k].shift;
    gradients_[k].q.resize(chosen_.size());
    context.over_blocks(chosen_.size(), 16384, 1.0, [&](size_t begin, size_t end, size_t) {
      for (size_t i = begin; i < end; ++i) gradients_[k].q[i] = gradients[k].q[static_cast<size_t>(chosen_[i])];
    });
    nodes_[k].output = static_cast<int>(k);
    nodes_[k].end = static_cast<Row>(chosen_.size());
  }
  partition_.reset(context);
  ordered_.begin_level(partition_, gradients_);
}

void RowSample::split(std::span<const ChosenSplit> splits, std::span<const int> slots, Context& context) {
  std::vector<ChosenSplit> own(splits.begin(), splits.end());
  std::vector<OpenNode> next;
  for (size_t i = 0; i < own.size(); ++i) own[i].node = nodes_[static_cast<size_t>(slots[i])];
  partition_.split(
      own,
      [&](const ChosenSplit& s, std::span<const Row> rows, std::uint8_t* out) {
        const std::int32_t p = X_.place(static_cast<size_t>(s.column));
        if (p >= 0) return rows_.gather(static_cast<size_t>(p), rows, out);
        for (size_t i = 0; i < rows.size(); ++i)  // a sparse column is not in the sample
          out[i] =
              static_cast<std::uint8_t>(X_.bin(static_cast<size_t>(s.column), static_cast<size_t>(chosen_[rows[i]])));
      },
      weights_, context);
  for (const ChosenSplit& s : own) {
    next.push_back(s.left);
    next.push_back(s.right);
  }
  nodes_ = std::move(next);
  ordered_.begin_level(partition_, gradients_);
}

// A sample of this share of the node's rows shows sqrt(2 gain) of a split, times the root of the share, less z times
// this at most, but for a probability of exp(-z^2 / 2); docs/algorithm.md has the argument. In the middle of the range
// of gradients it is half of that, as Hoeffding's inequality has it; a mean near one end leaves room for a few rows far
// away, which a sample may not have at all.
double RowSample::stray(const OpenNode& node, const GridGradients& gradients, double share) {
  const double lowest = gradients.lowest, highest = gradients.highest, range = highest - lowest;
  const double mean = static_cast<double>(node.gradient) / node.rows();
  if (!(range > 0)) return 0.0;
  const double far = std::max(highest - mean, mean - lowest), aside = far - 0.5 * range;
  const double few = 0.25 * (1.0 - share) * range * range + aside * aside;
  const double pure = (1.0 - 0.5 * share) * range * range * far / (3.0 * range - far);
  return std::sqrt(1.001 * std::max(few, pure));  // the thousandth: what Chernoff's bound gives away at worst
}

// So many rows that a column which gains next to nothing is ruled out.
double RowSample::rows_needed(const Question& question, const GridGradients& gradients) const {
  const OpenNode& node = *question.node;
  const double n = node.rows(), mean = static_cast<double>(node.gradient) / n;
  const double spread = std::sqrt(std::max(static_cast<double>(node.squares) / n - mean * mean, 0.0));
  const double enough = scaled(std::sqrt(2.0 * question.least), gradients.shift);
  if (!(enough > 0)) return kInfinity;
  const double length = (z_ * stray(node, gradients, 0.0) + 3.5 * spread) / enough;
  return n * length * length;
}

// How many rows to look at first; none where the sample has not enough of them. One of few sizes, whatever the sample
// showed before: chances are counted for each.
size_t RowSample::first_look(const Question& question, const GridGradients& gradients) const {
  const double needed = rows_needed(question, gradients);
  const size_t all = nodes_[static_cast<size_t>(question.slot)].rows();
  if (!(needed < static_cast<double>(all))) return 0;
  size_t count = static_cast<size_t>(needed) + 1;
  if (question.again) {
    count = all;
  } else if (question.least > question.lowest) {
    size_t size = all;
    while (size / 4 >= std::max(count, all / 64)) size /= 4;
    count = size;
  }
  return std::max(count, std::min<size_t>(all, 64));
}

// sqrt(2 gain) is at most what the sample of m rows shows and what chance may have taken from it, times sqrt(N / m).
void RowSample::judge(const GroupSearch::Piece& piece, Question& question, const GridGradients& gradients) const {
  const double rows = question.node->rows(), sampled = piece.node->rows();
  const double factor = std::sqrt(rows / sampled);
  const double added = z_ * scaled(stray(*question.node, gradients, sampled / rows), -gradients.shift);
  std::uint8_t& alive = (*question.alive)[piece.group];
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!((alive >> lane) & 1)) continue;
    const double seen = std::sqrt(2.0 * std::max(piece.splits[lane].gain, 0.0));
    const double most = factor * (seen + added) * kSafe;
    if (0.5 * most * most <= question.enough[piece.group * kLanes + static_cast<size_t>(lane)])
      alive &= static_cast<std::uint8_t>(~(1u << lane));
  }
}

// Looks at the first rows of each node, as many as asked for; 0: not at all.
void RowSample::look(std::span<Question> questions, std::span<const size_t> counts, AllGradients gradients,
                     Context& context) {
  std::vector<OpenNode> nodes(questions.size());
  std::vector<GroupSearch::Piece> pieces;
  std::vector<size_t> question_of;
  for (size_t i = 0; i < questions.size(); ++i) {
    if (counts[i] == 0) continue;
    nodes[i] = nodes_[static_cast<size_t>(questions[i].slot)];
    const NodeRows rows = ordered_.of(nodes[i], context);
    nodes[i].end = nodes[i].begin + static_cast<Row>(counts[i]);
    nodes[i].weight = static_cast<std::int64_t>(counts[i]);
    nodes[i].gradient = std::accumulate(rows.q, rows.q + counts[i], std::int64_t{0});
  }
  for (size_t g = 0; g < rows_.groups(); ++g)  // one group after another, for all nodes: it stays in the cache
    for (size_t i = 0; i < questions.size(); ++i)
      if (counts[i] > 0 && (*questions[i].alive)[g]) {
        pieces.push_back({&nodes[i], g, (*questions[i].alive)[g], {}});
        question_of.push_back(i);
      }
  search_.search_pieces(pieces, ordered_, gradients_, context);
  for (size_t p = 0; p < pieces.size(); ++p)
    judge(pieces[p], questions[question_of[p]], of(gradients, *pieces[p].node));
}

void RowSample::rule_out(std::span<Question> questions, AllGradients gradients, Context& context) {
  std::vector<size_t> counts;
  for (const Question& q : questions) counts.push_back(first_look(q, of(gradients, *q.node)));
  look(questions, counts, gradients, context);
  // What is left gets a second look at all rows of the sample, where they are many more.
  for (size_t i = 0; i < questions.size(); ++i) {
    const size_t all = nodes_[static_cast<size_t>(questions[i].slot)].rows();
    counts[i] = counts[i] > 0 && all > 2 * counts[i] ? all : 0;
  }
  look(questions, counts, gradients, context);
}

}  // namespace frugal
