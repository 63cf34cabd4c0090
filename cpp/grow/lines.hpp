// Which line an iteration may add: for each output the column whose line is worth most at the current prices.
//
// The raw gain of a line on the scores z of a column is 1/2 (sum w g (z - mean))^2 / sum w (z - mean)^2: what the best
// line through the gradients explains, in the unit of the gains of splits.
#pragma once

#include <vector>

#include "grow/worth.hpp"

namespace frugal {

// A number with the sign of the line's slope, as gradients have it: `product` is the sum of weight unit * q * score.
// `seen`: the sums of all rows that the line is judged by.
double line_slope(Int128 product, const ScoreSums& scores, const NodeSums& seen);

// The gain of a line from the same exact sums.
double line_gain(Int128 product, const ScoreSums& scores, const NodeSums& seen, int gradient_shift, int weight_shift);

struct LineOffer {
  size_t column = kNone;  // kNone: no line gains anything
  double gain = 0.0, net = -kInfinity, price = 0.0;
};

class Lines {
 public:
  // `alone`: no trees are grown. Then gains that were computed in earlier iterations bound the gains now.
  Lines(Engine& engine, const Worth& worth, bool alone);

  // After the gradients have changed. Lines are judged by the drawn rows.
  void begin_trees(const RowDraw& draw);

  // The line with the best net gain, by the ledger's prices now. Ties: owned columns, then the lower price, column.
  LineOffer best(size_t output);

  // Raises to the gains of the lines of all columns.
  void raise(size_t output, std::vector<double>& root_gains);

 private:
  struct Known {
    double root = kInfinity;  // an upper bound on the square root of twice the gain
    double gain = -1.0;       // of this iteration; negative: not computed
  };
  void add_up_scores(std::int64_t weight);
  void compute(size_t output, std::span<const size_t> columns);
  void judge(size_t output, std::span<const size_t> columns, LineOffer& best) const;
  bool better(const LineOffer& a, const LineOffer& b) const;
  // A column whose bound allows a better line than the best so far.
  struct Possible {
    double most;  // the largest gain
    double net;   // after its price
    size_t column;
  };
  // A line looks at all rows, as a root does.
  double price(size_t column) const { return worth_.ledger().price(column, worth_.ledger().unseen(column)); }
  double limit(size_t column, double enough) const {
    return worth_.limit(column, worth_.ledger().unseen(column), enough);
  }
  bool may_use(size_t column) const { return worth_.may_use(column, worth_.ledger().unseen(column)); }
  double least(const LineOffer& best) const;
  std::vector<Possible> possible(size_t output, const LineOffer& best) const;

  Engine& engine_;
  const Worth& worth_;
  bool alone_;
  bool some_rows_ = false;                     // sums of scores are those of some rows
  std::vector<size_t> ordered_;                // columns that may have lines
  std::vector<size_t> columns_;                // those that have them
  std::vector<std::uint8_t> has_line_;         // by column of the table
  std::vector<ScoreSums> scores_;              // by column of the table
  std::vector<std::vector<Known>> known_;      // by output and column of the table
  std::vector<std::vector<size_t>> computed_;  // columns whose gains are known in this iteration, by output
};

}  // namespace frugal
