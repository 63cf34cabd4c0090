// What lines are drawn on. Every bin of a column has a score: the lines of a model are slope * score. Scores have mean
// 0 and variance 1 over the rows, so a slope says the same for every column, and a missing value, whose score is 0,
// counts like the mean. They are whole numbers of steps of 2^-kScoreBits, so sums over rows are exact.
#pragma once

#include "data/binning.hpp"
#include "data/params.hpp"
#include "data/target.hpp"

namespace frugal {

inline constexpr int kScoreBits = 10;
inline constexpr int kMostScore = 32767;        // scores beyond 32 standard deviations are cut
inline constexpr double kMostDeviations = 2.5;  // where scores are values, those farther out count as this far

inline double score_value(std::int16_t score) {
  return real(score) * (1.0 / real(1 << kScoreBits));
}

// The scores of all bins of values, as Thresholds::scores has them, from the weights of the bins in all parts of the
// table. Columns with fewer than two bins that have rows, and categorical ones, have scores of zero: no line is drawn.
std::vector<std::int16_t> bin_scores(const BinnedMatrix& X, const Weights& weights, LineScale scale, Context& context);

}  // namespace frugal
