// Compiled once for each instruction set; FRUGAL_ISA names the copy. Everything here has internal linkage and no
// library templates are used, or the linker could replace one copy's code by another's.
#include "support/kernels.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "support/bin_kernels.hpp"
#include "support/convert.hpp"
#include "support/packed_cell.hpp"
#include "support/portable_math.hpp"

namespace frugal::FRUGAL_ISA {
namespace {

constexpr int kMostBins = 256;

// The sums left of every candidate threshold, and the sums of both sides as doubles for the gain.
struct Prefix {
  alignas(64) std::int64_t gradient[kMostBins], weight[kMostBins];
  alignas(64) double gradient_left[kMostBins], gradient_right[kMostBins];
  alignas(64) double weight_left[kMostBins], weight_right[kMostBins];
  alignas(64) double gain[kMostBins];
};

struct Packed {
  static constexpr int kWords = 1;
  static std::int64_t gradient(const std::int64_t* cell) { return packed_gradient(cell[0]); }
  static std::int64_t weight(const std::int64_t* cell) { return packed_count(cell[0]); }
};

struct TwoWords {
  static constexpr int kWords = 2;
  static std::int64_t gradient(const std::int64_t* cell) { return cell[0]; }
  static std::int64_t weight(const std::int64_t* cell) { return cell[1]; }
};

template <class Cell>
inline void fill_prefix(const ScanTask& t, std::int64_t g, std::int64_t w, Prefix& p) {
  for (int b = 0; b < t.value_bins; ++b) {
    g += Cell::gradient(t.cells + b * Cell::kWords);
    w += Cell::weight(t.cells + b * Cell::kWords);
    p.gradient[b] = g;
    p.weight[b] = w;
  }
  for (int b = 0; b < t.value_bins; ++b) {
    p.gradient_left[b] = real(p.gradient[b]);
    p.weight_left[b] = real(p.weight[b]);
    p.gradient_right[b] = real(t.gradient - p.gradient[b]);
    p.weight_right[b] = real(t.weight - p.weight[b]);
  }
}

// Sums of heavier nodes may not fit a double. If they are rounded before they cancel, a gain of zero may look positive.
constexpr std::int64_t kExactWeight = std::int64_t{1} << 27;  // times gradients up to 2^26: sums up to 2^53 are exact

// The same gain as in best_rounded_bin(), from exact products that are rounded once.
inline double exact_gain(const ScanTask& t, std::int64_t gl, std::int64_t wl) {
  using Int128 = __int128;  // types.hpp includes library templates
  const std::int64_t gr = t.gradient - gl, wr = t.weight - wl;
  const double numerator = real(Int128{gl} * wr) - real(Int128{gr} * wl);
  return (numerator * numerator) / (real(wl) * real(wr)) * t.factor;
}

// The first bin with the largest gain 1/2 (GL^2/WL + GR^2/WR - G^2/W), computed as (GL WR - GR WL)^2 / (2 W WL WR), a
// form that has less cancellation and treats both sides alike.
inline int best_rounded_bin(const ScanTask& t, Prefix& p, double& best) {
  std::int64_t most = bits_as<std::int64_t>(-1.0);
  for (int b = 0; b < t.value_bins; ++b) {
    double wl = p.weight_left[b], wr = p.weight_right[b];
    double numerator = p.gradient_left[b] * wr - p.gradient_right[b] * wl;
    double gain = (numerator * numerator) / (wl * wr) * t.factor;
    bool allowed = (wl >= t.min_weight) & (wr >= t.min_weight);
    p.gain[b] = allowed ? gain : -1.0;
  }
  for (int b = 0; b < t.value_bins; ++b) {  // gains are -1 or not negative, so they order like their bits
    std::int64_t bits = bits_as<std::int64_t>(p.gain[b]);
    most = bits > most ? bits : most;
  }
  best = bits_as<double>(most);
  int b = 0;
  while (b + 1 < t.value_bins && bits_as<std::int64_t>(p.gain[b]) != most) ++b;
  return b;
}

// Rounding the sums changes (GL WR - GR WL) / sqrt(WL WR) by less than 2^-24 W, since |G| is at most 2^26 W on either
// side, and so does the rounding in exact_gain(). Bins within that distance of the best are compared by their exact
// gains; usually there is only the best one.
inline int best_exact_bin(const ScanTask& t, const Prefix& p, int found, double& best) {
  if (best < 0) return found;
  const double noise = 0x1p-21 * real(t.weight) * __builtin_sqrt(t.factor);
  const double least = __builtin_sqrt(best) * (1.0 - 0x1p-40) - noise;
  const double floor = least > 0 ? least * least : 0.0;
  int near = 0;
  for (int b = 0; b < t.value_bins; ++b) near += p.gain[b] >= floor;
  if (near == 1) {
    best = exact_gain(t, p.gradient[found], p.weight[found]);
    return found;
  }
  best = -1.0;
  for (int b = 0; b < t.value_bins; ++b) {
    if (!(p.gain[b] >= floor)) continue;
    const double gain = exact_gain(t, p.gradient[b], p.weight[b]);
    if (gain > best) {
      best = gain;
      found = b;
    }
  }
  return found;
}

inline int best_bin(const ScanTask& t, Prefix& p, double& best) {
  const int found = best_rounded_bin(t, p, best);
  return t.weight > kExactWeight ? best_exact_bin(t, p, found, best) : found;
}

constexpr int kFewBins = 8;

// For a column of few bins: the same operations, one threshold at a time.
template <class Cell>
inline ScanResult scan_few(const ScanTask& t) {
  ScanResult best{-1.0, 0, MissingSide::unseen};
  std::int64_t g = 0, w = 0;
  for (int b = 0; b + 1 < t.value_bins; ++b) {  // the last threshold leaves nothing on the right
    g += Cell::gradient(t.cells + b * Cell::kWords);
    w += Cell::weight(t.cells + b * Cell::kWords);
    const double wl = real(w), wr = real(t.weight - w);
    if (!((wl >= t.min_weight) & (wr >= t.min_weight))) continue;
    const double gl = real(g), gr = real(t.gradient - g);
    const double numerator = gl * wr - gr * wl;
    const double gain = t.weight > kExactWeight ? exact_gain(t, g, w) : (numerator * numerator) / (wl * wr) * t.factor;
    if (gain > best.gain) best = {gain, narrow<std::uint16_t>(b), MissingSide::unseen};
  }
  return best;
}

template <class Cell>
ScanResult scan(const ScanTask& t) {
  if (t.value_bins <= kFewBins && !t.has_missing && t.min_weight > 0) return scan_few<Cell>(t);
  Prefix p;
  ScanResult result{-1.0, 0, MissingSide::unseen};
  if (t.value_bins == 0) return result;
  fill_prefix<Cell>(t, 0, 0, p);
  result.bin = narrow<std::uint16_t>(best_bin(t, p, result.gain));
  if (!t.has_missing) return result;
  const std::int64_t* missing = t.cells + t.value_bins * Cell::kWords;
  if (Cell::weight(missing) == 0) return result;
  result.missing = MissingSide::right;
  fill_prefix<Cell>(t, Cell::gradient(missing), Cell::weight(missing), p);
  double gain;
  const auto bin = narrow<std::uint16_t>(best_bin(t, p, gain));
  if (gain > result.gain || (gain == result.gain && bin < result.bin)) result = {gain, bin, MissingSide::left};
  return result;
}

ScanResult scan_packed(const ScanTask& t) {
  return scan<Packed>(t);
}
ScanResult scan_wide(const ScanTask& t) {
  return scan<TwoWords>(t);
}

inline std::uint64_t bits_of(std::size_t n, const std::uint8_t* bins, const LeftBins& left) {
  std::uint64_t bits = 0;
  if (left.listed) {
    for (std::size_t i = 0; i < n; ++i) bits |= std::uint64_t{left.listed[bins[i]]} << i;
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      const bool goes_left = (bins[i] <= left.up_to) | (bins[i] == left.and_also);
      bits |= std::uint64_t{goes_left} << i;
    }
  }
  return bits;
}

std::size_t left_bits(std::size_t n, const std::uint8_t* bins, const LeftBins& left, std::uint64_t* bits) {
  std::size_t count = 0, i = 0;
#ifdef __AVX512BW__
  const __m512i up_to = _mm512_set1_epi8(low_bits<char>(left.up_to));
  const __m512i and_also = _mm512_set1_epi8(low_bits<char>(left.and_also));
  const __mmask64 also = left.and_also < 0 ? 0 : ~__mmask64{0};
  for (; left.listed == nullptr && i + 64 <= n; i += 64) {
    const __m512i v = _mm512_loadu_si512(bins + i);
    bits[i / 64] = _mm512_cmple_epu8_mask(v, up_to) | _mm512_mask_cmpeq_epi8_mask(also, v, and_also);
    count += index(__builtin_popcountll(bits[i / 64]));
  }
#endif
  for (; i < n; i += 64) {
    bits[i / 64] = bits_of(n - i < 64 ? n - i : 64, bins + i, left);
    count += index(__builtin_popcountll(bits[i / 64]));
  }
  return count;
}

void partition_rows(std::size_t n, const std::uint32_t* rows, const std::uint64_t* bits, std::uint32_t* left,
                    std::uint32_t* right) {
  std::size_t i = 0;
#ifdef __AVX512BW__
  for (; i + 16 <= n; i += 16) {
    const auto side = low_bits<__mmask16>(bits[i / 64] >> (i % 64));
    const int lefts = __builtin_popcount(side);
    const __m512i v = _mm512_loadu_si512(rows + i);
    _mm512_mask_storeu_epi32(left, low_bits<__mmask16>((1u << lefts) - 1), _mm512_maskz_compress_epi32(side, v));
    _mm512_mask_storeu_epi32(right, low_bits<__mmask16>((1u << (16 - lefts)) - 1),
                             _mm512_maskz_compress_epi32(low_bits<__mmask16>(~side), v));
    left += lefts;
    right += 16 - lefts;
  }
#else
  // Every row is written to both sides and only one side advances: a branch would be mispredicted half the time. The
  // buffers have room for the one row that is written too far.
  std::uint32_t to_left[65], to_right[65];
  for (; i + 64 <= n; i += 64) {
    std::uint64_t sides = bits[i / 64];
    std::size_t lefts = 0;
    for (std::size_t k = 0; k < 64; ++k, sides >>= 1) {
      to_left[lefts] = rows[i + k];
      to_right[k - lefts] = rows[i + k];
      lefts += sides & 1;
    }
    __builtin_memcpy(left, to_left, lefts * sizeof *rows);
    __builtin_memcpy(right, to_right, (64 - lefts) * sizeof *rows);
    left += lefts;
    right += 64 - lefts;
  }
#endif
  for (; i < n; ++i) {
    if ((bits[i / 64] >> (i % 64)) & 1) {
      *left++ = rows[i];
    } else {
      *right++ = rows[i];
    }
  }
}

std::int64_t sum(std::size_t n, const std::int32_t* v) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < n; ++i) total += v[i];
  return total;
}

std::int64_t sum_of_squares(std::size_t n, const std::int32_t* v) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < n; ++i) total += std::int64_t{v[i]} * v[i];
  return total;
}

void difference(std::size_t n, std::int32_t* a, double a_scale, const std::int32_t* b, double b_scale, double* sum,
                double* squares) {
  constexpr std::size_t kSums = 8;
  alignas(64) double sums[kSums] = {}, own_squares[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums <= n; i += kSums)
    for (std::size_t k = 0; k < kSums; ++k) {
      const double change = b[i + k] * b_scale - a[i + k] * a_scale;
      a[i + k] = b[i + k];
      sums[k] += change;
      own_squares[k] += change * change;
    }
  for (; i < n; ++i) {
    const double change = b[i] * b_scale - a[i] * a_scale;
    a[i] = b[i];
    sums[0] += change;
    own_squares[0] += change * change;
  }
  *sum = *squares = 0.0;
  for (std::size_t k = 0; k < kSums; ++k) {
    *sum += sums[k];
    *squares += own_squares[k];
  }
}

double largest_magnitude(std::size_t n, const double* v) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t bits = bits_as<std::int64_t>(v[i]) & 0x7FFFFFFFFFFFFFFFLL;
    most = bits > most ? bits : most;
  }
  return bits_as<double>(most);
}

void to_grid(std::size_t n, const double* v, double scale, std::int32_t* out) {
  constexpr double kMagic = 6755399441055744.0;
  for (std::size_t i = 0; i < n; ++i) {
    double shifted = v[i] * scale + kMagic;  // the low 32 bits of `shifted` are the rounded integer
    out[i] = low_bits<std::int32_t>(bits_as<std::int64_t>(shifted));
  }
}

std::int64_t sum_on_grid(std::size_t n, const double* v, double scale) {
  constexpr double kMagic = 6755399441055744.0;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < n; ++i)
    total += bits_as<std::uint64_t>(v[i] * scale + kMagic) - bits_as<std::uint64_t>(kMagic);
  return bits_as<std::int64_t>(total);
}

void logistic_losses(std::size_t n, const double* y, const double* f, double* out) {
  for (std::size_t i = 0; i < n; ++i) {
    double top = f[i] > 0.0 ? f[i] : 0.0;
    double magnitude = f[i] > 0.0 ? f[i] : -f[i];
    out[i] = (top - y[i] * f[i]) + portable_log(1.0 + portable_exp(-magnitude));
  }
}

void logistic(std::size_t n, const double* y, const double* f, double* g, double* h, double* out) {
  for (std::size_t i = 0; i < n; ++i) {
    double top = f[i] > 0.0 ? f[i] : 0.0;
    double magnitude = f[i] > 0.0 ? f[i] : -f[i];
    double e = portable_exp(-magnitude);
    double most = 1.0 / (1.0 + e), least = e * most;  // probabilities of the more and of the less likely class
    double one = f[i] > 0.0 ? most : least, zero = f[i] > 0.0 ? least : most;
    g[i] = y[i] > 0.5 ? zero : -one;  // 1 - p exactly as for the other class: swapped classes only swap the sign
    h[i] = most * least;
    out[i] = (top - y[i] * f[i]) + portable_log(1.0 + e);
  }
}

void log_sum_exp(std::size_t n, std::size_t outputs, const double* f, std::size_t stride, double* out) {
  // Exponentials are summed as whole numbers, so that the order of classes does not matter.
  constexpr double kMagic = 6755399441055744.0, kScale = 0x1p50;
  constexpr std::size_t kBlock = 256;
  alignas(64) double top[kBlock];
  alignas(64) std::int64_t total[kBlock];
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    std::size_t m = n - begin < kBlock ? n - begin : kBlock;
    for (std::size_t i = 0; i < m; ++i) {
      top[i] = f[begin + i];
      total[i] = 0;
    }
    for (std::size_t k = 1; k < outputs; ++k) {
      const double* fk = f + k * stride + begin;
      for (std::size_t i = 0; i < m; ++i) top[i] = fk[i] > top[i] ? fk[i] : top[i];
    }
    for (std::size_t k = 0; k < outputs; ++k) {
      const double* fk = f + k * stride + begin;
      for (std::size_t i = 0; i < m; ++i)
        total[i] +=
            bits_as<std::int64_t>(portable_exp(fk[i] - top[i]) * kScale + kMagic) - bits_as<std::int64_t>(kMagic);
    }
    for (std::size_t i = 0; i < m; ++i) out[begin + i] = top[i] + portable_log(real(total[i]) * (1.0 / kScale));
  }
}

void softmax_derivatives(std::size_t n, const double* y, double k, const double* f, const double* log_sum, double* g,
                         double* h) {
  for (std::size_t i = 0; i < n; ++i) {
    double p = portable_exp(f[i] - log_sum[i]);
    g[i] = (y[i] == k ? 1.0 : 0.0) - p;
    h[i] = p * (1.0 - p);
  }
}

void exponentials(std::size_t n, const double* v, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = portable_exp(v[i]);
}

}  // namespace

#define FRUGAL_TEXT_(x) #x
#define FRUGAL_TEXT(x) FRUGAL_TEXT_(x)

extern const Kernels table;
const Kernels table{FRUGAL_TEXT(FRUGAL_ISA),
                    left_bits,
                    partition_rows,
                    scan_packed,
                    scan_wide,
                    sum,
                    sum_of_squares,
                    difference,
                    largest_magnitude,
                    to_grid,
                    sum_on_grid,
                    logistic_losses,
                    logistic,
                    log_sum_exp,
                    softmax_derivatives,
                    exponentials,
                    bins_of_floats,
                    bins_of_doubles,
                    interleave};

}  // namespace frugal::FRUGAL_ISA
