// The search for bins, part of kernels.cpp: compiled once for each instruction set, with internal linkage.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "support/bin_search.hpp"

namespace frugal::FRUGAL_ISA {
namespace {

#ifdef __AVX512BW__

// Sixteen searches at a time. A level's nodes are looked up in registers, by the low bits of their numbers.
struct Search {
  static constexpr std::size_t kValues = 16;
  __m512 nodes[16];
  __m512i mask;

  explicit Search(const CutTree& tree) : mask(_mm512_set1_epi32((1 << tree.levels) - 1)) {
    for (int i = 0; i < (1 << tree.levels) / 16; ++i) nodes[i] = _mm512_load_ps(tree.nodes + 16 * i);
  }

  template <int kLevel>
  __m512 look_up(__m512i at) const {
    if constexpr (kLevel < 4) {
      return _mm512_permutexvar_ps(at, nodes[0]);
    } else if constexpr (kLevel == 4) {
      return _mm512_permutexvar_ps(at, nodes[1]);
    } else if constexpr (kLevel == 5) {
      return _mm512_permutex2var_ps(nodes[2], at, nodes[3]);
    } else {
      const __mmask16 second = _mm512_test_epi32_mask(at, _mm512_set1_epi32(32));
      const __m512 first_half = _mm512_mask_blend_ps(
          second, _mm512_permutex2var_ps(nodes[kLevel == 6 ? 4 : 8], at, nodes[kLevel == 6 ? 5 : 9]),
          _mm512_permutex2var_ps(nodes[kLevel == 6 ? 6 : 10], at, nodes[kLevel == 6 ? 7 : 11]));
      if constexpr (kLevel == 6) {
        return first_half;
      } else {
        const __m512 second_half = _mm512_mask_blend_ps(second, _mm512_permutex2var_ps(nodes[12], at, nodes[13]),
                                                        _mm512_permutex2var_ps(nodes[14], at, nodes[15]));
        return _mm512_mask_blend_ps(_mm512_test_epi32_mask(at, _mm512_set1_epi32(64)), first_half, second_half);
      }
    }
  }

  // One level down. `next`: the least threshold so far that is not below v.
  template <int kLevel>
  void down(__m512 v, __m512i& at, __m512& next) const {
    const __m512 node = look_up<kLevel>(at);
    const __mmask16 below = _mm512_cmp_ps_mask(node, v, _CMP_LT_OQ);
    next = _mm512_mask_blend_ps(below, node, next);
    at = _mm512_add_epi32(at, at);
    at = _mm512_mask_add_epi32(at, below, at, _mm512_set1_epi32(1));
  }

  template <int kLevels>
  __m512i bins(__m512 v, __m512& next) const {
    __m512i at = _mm512_set1_epi32(1);
    next = _mm512_set1_ps(__builtin_inff());
    down<0>(v, at, next);
    down<1>(v, at, next);
    down<2>(v, at, next);
    down<3>(v, at, next);
    if constexpr (kLevels > 4) down<4>(v, at, next);
    if constexpr (kLevels > 5) down<5>(v, at, next);
    if constexpr (kLevels > 6) down<6>(v, at, next);
    if constexpr (kLevels > 7) down<7>(v, at, next);
    return _mm512_and_epi32(at, mask);
  }
};

template <int kLevels>
bool search_floats(std::size_t n, const float* v, const CutTree& tree, std::uint8_t* out) {
  const Search search(tree);
  const __m512i missing = _mm512_set1_epi32(narrow<int>(tree.count + 1));
  __mmask16 any = 0;
  for (std::size_t i = 0; i < n; i += Search::kValues) {
    const auto some = n - i < 16 ? low_bits<__mmask16>((1u << (n - i)) - 1) : low_bits<__mmask16>(0xFFFF);
    const __m512 values = _mm512_maskz_loadu_ps(some, v + i);
    const __mmask16 nan = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
    __m512 next;
    const __m512i found = _mm512_mask_mov_epi32(search.bins<kLevels>(values, next), nan, missing);
    _mm_mask_storeu_epi8(out + i, some, _mm512_cvtepi32_epi8(found));
    any |= nan;
  }
  return any != 0;
}

// Rounding keeps the order of numbers, so a comparison in single precision is right unless both sides become equal.
// Where a value becomes equal to the next threshold, it is searched again in double precision.
template <int kLevels>
bool search_doubles(std::size_t n, const double* v, const CutTree& tree, std::uint8_t* out) {
  const Search search(tree);
  const __m512i missing = _mm512_set1_epi32(narrow<int>(tree.count + 1));
  __mmask16 any = 0;
  for (std::size_t i = 0; i < n; i += Search::kValues) {
    const auto some = n - i < 16 ? low_bits<__mmask16>((1u << (n - i)) - 1) : low_bits<__mmask16>(0xFFFF);
    const __m512d low = _mm512_maskz_loadu_pd(low_bits<__mmask8>(some), v + i);
    const __m512d high = _mm512_maskz_loadu_pd(low_bits<__mmask8>(some >> 8), v + i + 8);
    const __m512 values = _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
    const __mmask16 nan = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
    __m512 next;
    const __m512i found = _mm512_mask_mov_epi32(search.bins<kLevels>(values, next), nan, missing);
    _mm_mask_storeu_epi8(out + i, some, _mm512_cvtepi32_epi8(found));
    any |= nan;
    unsigned unsure = _mm512_mask_cmp_ps_mask(some, values, next, _CMP_EQ_OQ);
    for (; unsure != 0; unsure &= unsure - 1) {
      const std::size_t k = i + index(__builtin_ctz(unsure));
      out[k] = bin_of(v[k], tree.cuts, tree.count);
    }
  }
  return any != 0;
}

#elif defined(__AVX2__)

// Eight searches at a time.
struct Search {
  __m256 first, second;
  const CutTree& tree;

  explicit Search(const CutTree& t) : first(_mm256_load_ps(t.nodes)), second(_mm256_load_ps(t.nodes + 8)), tree(t) {}

  static void down(__m256 v, __m256 node, __m256i& at, __m256& next) {
    const __m256 below = _mm256_cmp_ps(node, v, _CMP_LT_OQ);
    next = _mm256_blendv_ps(node, next, below);
    at = _mm256_sub_epi32(_mm256_add_epi32(at, at), _mm256_castps_si256(below));
  }

  template <int kLevels>
  __m256i bins(__m256 v, __m256& next) const {
    __m256i at = _mm256_set1_epi32(1);
    next = _mm256_set1_ps(__builtin_inff());
    for (int level = 0; level < 3; ++level) down(v, _mm256_permutevar8x32_ps(first, at), at, next);
    down(v, _mm256_permutevar8x32_ps(second, at), at, next);
    for (int level = 4; level < kLevels; ++level) down(v, _mm256_i32gather_ps(tree.nodes, at, 4), at, next);
    return _mm256_sub_epi32(at, _mm256_set1_epi32(1 << kLevels));
  }
};

// Writes the low bytes of eight numbers. Returns a bit for each value that is NaN, whose bin is `missing`.
inline int store_bins(__m256i found, __m256 values, __m256i missing, std::uint8_t* out) {
  const __m256 nan = _mm256_cmp_ps(values, values, _CMP_UNORD_Q);
  found = _mm256_blendv_epi8(found, missing, _mm256_castps_si256(nan));
  const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(found), _mm256_extracti128_si256(found, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_packus_epi16(words, words));
  return _mm256_movemask_ps(nan);
}

template <int kLevels>
bool search_floats(std::size_t n, const float* v, const CutTree& tree, std::uint8_t* out) {
  const Search search(tree);
  const __m256i missing = _mm256_set1_epi32(narrow<int>(tree.count + 1));
  int any = 0;
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256 values = _mm256_loadu_ps(v + i);
    __m256 next;
    any |= store_bins(search.bins<kLevels>(values, next), values, missing, out + i);
  }
  for (; i < n; ++i) {
    out[i] = bin_of(v[i], tree.cuts, tree.count);
    any |= v[i] != v[i];
  }
  return any != 0;
}

// As with AVX-512: a value that becomes equal to the next threshold is searched again.
template <int kLevels>
bool search_doubles(std::size_t n, const double* v, const CutTree& tree, std::uint8_t* out) {
  const Search search(tree);
  const __m256i missing = _mm256_set1_epi32(narrow<int>(tree.count + 1));
  int any = 0;
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256 values =
        _mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(v + i + 4)), _mm256_cvtpd_ps(_mm256_loadu_pd(v + i)));
    __m256 next;
    any |= store_bins(search.bins<kLevels>(values, next), values, missing, out + i);
    auto unsure = low_bits<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(values, next, _CMP_EQ_OQ)));
    for (; unsure != 0; unsure &= unsure - 1) {
      const std::size_t k = i + index(__builtin_ctz(unsure));
      out[k] = bin_of(v[k], tree.cuts, tree.count);
    }
  }
  for (; i < n; ++i) {
    out[i] = bin_of(v[i], tree.cuts, tree.count);
    any |= v[i] != v[i];
  }
  return any != 0;
}

#else

template <int kLevels>
bool search_floats(std::size_t n, const float* v, const CutTree& tree, std::uint8_t* out) {
  bool any = false;
  for (std::size_t i = 0; i < n; ++i) {
    unsigned at = 1;
    for (int level = 0; level < kLevels; ++level) at = 2 * at + (tree.nodes[at] < v[i]);
    const bool nan = v[i] != v[i];
    out[i] = nan ? narrow<std::uint8_t>(tree.count + 1) : low_bits<std::uint8_t>(at - (1u << kLevels));
    any |= nan;
  }
  return any;
}

template <int kLevels>
bool search_doubles(std::size_t n, const double* v, const CutTree& tree, std::uint8_t* out) {
  bool any = false;
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = bin_of(v[i], tree.cuts, tree.count);
    any |= v[i] != v[i];
  }
  return any;
}

#endif

bool bins_of_floats(std::size_t n, const float* v, const CutTree& tree, std::uint8_t* out) {
  switch (tree.levels) {
    case 4:
      return search_floats<4>(n, v, tree, out);
    case 5:
      return search_floats<5>(n, v, tree, out);
    case 6:
      return search_floats<6>(n, v, tree, out);
    case 7:
      return search_floats<7>(n, v, tree, out);
    default:
      return search_floats<8>(n, v, tree, out);
  }
}

bool bins_of_doubles(std::size_t n, const double* v, const CutTree& tree, std::uint8_t* out) {
  switch (tree.levels) {
    case 4:
      return search_doubles<4>(n, v, tree, out);
    case 5:
      return search_doubles<5>(n, v, tree, out);
    case 6:
      return search_doubles<6>(n, v, tree, out);
    case 7:
      return search_doubles<7>(n, v, tree, out);
    default:
      return search_doubles<8>(n, v, tree, out);
  }
}

void interleave(std::size_t n, const std::uint8_t* lanes, std::size_t step, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t lane = 0; lane < 8; ++lane) out[8 * i + lane] = lanes[lane * step + i];
}

}  // namespace
}  // namespace frugal::FRUGAL_ISA
