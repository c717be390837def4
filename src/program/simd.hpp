// One vector of doubles of the width this translation unit is compiled for, and the few operations on it that
// the compiler's vector types do not have themselves.
//
// Everything lives in a namespace named after the width and nothing here instantiates library templates: the
// linker must never take a function compiled for a wide machine and give it to a narrow one.
#pragma once

// GCC 12 warns of its own undefined vectors (PR 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

#include <cstddef>
#include <cstdint>

#if defined(__AVX512F__)
#define MCKEAN_WIDTH avx512
#elif defined(__AVX2__)
#define MCKEAN_WIDTH avx2
#else
#define MCKEAN_WIDTH plain
#endif
#define MCKEAN_INLINE [[gnu::always_inline]] inline

namespace mckean::MCKEAN_WIDTH {

#if defined(__AVX512F__)
inline constexpr std::size_t W = 8;
inline constexpr bool kFused = true;
using Mask = __mmask8;
#elif defined(__AVX2__)
inline constexpr std::size_t W = 4;
inline constexpr bool kFused = true;
using Mask = __m256d;
#else
inline constexpr std::size_t W = 2;
inline constexpr bool kFused = false;
using Mask = __m128d;
#endif

using Vec [[gnu::vector_size(8 * W)]] = double;
using Word [[gnu::vector_size(8 * W)]] = std::uint64_t;
using HalfInt [[gnu::vector_size(8 * W)]] = std::int32_t;  // two to a lane

MCKEAN_INLINE Vec splat(double x) { return x - Vec{}; }
MCKEAN_INLINE Word splat_word(std::uint64_t x) { return x - Word{}; }
MCKEAN_INLINE Word bits(Vec v) { return (Word)v; }
MCKEAN_INLINE Vec from_bits(Word w) { return (Vec)w; }

#if defined(__AVX512F__)
MCKEAN_INLINE Vec load(const double* p) { return _mm512_loadu_pd(p); }
MCKEAN_INLINE void store(double* p, Vec v) { _mm512_storeu_pd(p, v); }
MCKEAN_INLINE Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_pd(a, b, c); }
MCKEAN_INLINE Vec fms(Vec a, Vec b, Vec c) { return _mm512_fmsub_pd(a, b, c); }
MCKEAN_INLINE Vec fnma(Vec a, Vec b, Vec c) { return _mm512_fnmadd_pd(a, b, c); }
MCKEAN_INLINE Vec sqrt(Vec a) { return _mm512_sqrt_pd(a); }
// Where either is NaN these give b, the rule of the machine.
MCKEAN_INLINE Vec min_or_second(Vec a, Vec b) { return _mm512_min_pd(a, b); }
MCKEAN_INLINE Vec max_or_second(Vec a, Vec b) { return _mm512_max_pd(a, b); }
MCKEAN_INLINE Mask less(Vec a, Vec b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
MCKEAN_INLINE Mask less_equal(Vec a, Vec b) { return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ); }
MCKEAN_INLINE Mask equal(Vec a, Vec b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
MCKEAN_INLINE Mask not_equal(Vec a, Vec b) { return _mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ); }
MCKEAN_INLINE Mask not_less_equal(Vec a, Vec b) { return _mm512_cmp_pd_mask(a, b, _CMP_NLE_UQ); }
MCKEAN_INLINE Mask either(Mask a, Mask b) { return static_cast<Mask>(a | b); }
MCKEAN_INLINE bool any(Mask m) { return m != 0; }
MCKEAN_INLINE Vec select(Mask m, Vec yes, Vec no) { return _mm512_mask_blend_pd(m, no, yes); }
MCKEAN_INLINE Vec select_odd(Word n, Vec yes, Vec no) {
  return select(_mm512_test_epi64_mask((__m512i)n, _mm512_set1_epi64(1)), yes, no);
}
MCKEAN_INLINE Word mul_low_halves(Word a, Word b) { return (Word)_mm512_mul_epu32((__m512i)a, (__m512i)b); }
#elif defined(__AVX2__)
MCKEAN_INLINE Vec load(const double* p) { return _mm256_loadu_pd(p); }
MCKEAN_INLINE void store(double* p, Vec v) { _mm256_storeu_pd(p, v); }
MCKEAN_INLINE Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_pd(a, b, c); }
MCKEAN_INLINE Vec fms(Vec a, Vec b, Vec c) { return _mm256_fmsub_pd(a, b, c); }
MCKEAN_INLINE Vec fnma(Vec a, Vec b, Vec c) { return _mm256_fnmadd_pd(a, b, c); }
MCKEAN_INLINE Vec sqrt(Vec a) { return _mm256_sqrt_pd(a); }
MCKEAN_INLINE Vec min_or_second(Vec a, Vec b) { return _mm256_min_pd(a, b); }
MCKEAN_INLINE Vec max_or_second(Vec a, Vec b) { return _mm256_max_pd(a, b); }
MCKEAN_INLINE Mask less(Vec a, Vec b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
MCKEAN_INLINE Mask less_equal(Vec a, Vec b) { return _mm256_cmp_pd(a, b, _CMP_LE_OQ); }
MCKEAN_INLINE Mask equal(Vec a, Vec b) { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); }
MCKEAN_INLINE Mask not_equal(Vec a, Vec b) { return _mm256_cmp_pd(a, b, _CMP_NEQ_UQ); }
MCKEAN_INLINE Mask not_less_equal(Vec a, Vec b) { return _mm256_cmp_pd(a, b, _CMP_NLE_UQ); }
MCKEAN_INLINE Mask either(Mask a, Mask b) { return _mm256_or_pd(a, b); }
MCKEAN_INLINE bool any(Mask m) { return _mm256_movemask_pd(m) != 0; }
MCKEAN_INLINE Vec select(Mask m, Vec yes, Vec no) { return _mm256_blendv_pd(no, yes, m); }
MCKEAN_INLINE Vec select_odd(Word n, Vec yes, Vec no) { return select((Mask)(n << 63), yes, no); }
MCKEAN_INLINE Word mul_low_halves(Word a, Word b) { return (Word)_mm256_mul_epu32((__m256i)a, (__m256i)b); }
#else
MCKEAN_INLINE Vec load(const double* p) { return _mm_loadu_pd(p); }
MCKEAN_INLINE void store(double* p, Vec v) { _mm_storeu_pd(p, v); }
MCKEAN_INLINE Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
MCKEAN_INLINE Vec fms(Vec a, Vec b, Vec c) { return a * b - c; }
MCKEAN_INLINE Vec fnma(Vec a, Vec b, Vec c) { return c - a * b; }
MCKEAN_INLINE Vec sqrt(Vec a) { return _mm_sqrt_pd(a); }
MCKEAN_INLINE Vec min_or_second(Vec a, Vec b) { return _mm_min_pd(a, b); }
MCKEAN_INLINE Vec max_or_second(Vec a, Vec b) { return _mm_max_pd(a, b); }
MCKEAN_INLINE Mask less(Vec a, Vec b) { return _mm_cmplt_pd(a, b); }
MCKEAN_INLINE Mask less_equal(Vec a, Vec b) { return _mm_cmple_pd(a, b); }
MCKEAN_INLINE Mask equal(Vec a, Vec b) { return _mm_cmpeq_pd(a, b); }
MCKEAN_INLINE Mask not_equal(Vec a, Vec b) { return _mm_cmpneq_pd(a, b); }
MCKEAN_INLINE Mask not_less_equal(Vec a, Vec b) { return _mm_cmpnle_pd(a, b); }
MCKEAN_INLINE Mask either(Mask a, Mask b) { return _mm_or_pd(a, b); }
MCKEAN_INLINE bool any(Mask m) { return _mm_movemask_pd(m) != 0; }
MCKEAN_INLINE Vec select(Mask m, Vec yes, Vec no) { return from_bits((bits(yes) & bits(m)) | (bits(no) & ~bits(m))); }
MCKEAN_INLINE Vec select_odd(Word n, Vec yes, Vec no) { return select((Mask)(-(n & 1)), yes, no); }
MCKEAN_INLINE Word mul_low_halves(Word a, Word b) { return (Word)_mm_mul_epu32((__m128i)a, (__m128i)b); }
#endif

inline constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

MCKEAN_INLINE Vec abs(Vec v) { return from_bits(bits(v) & ~kSignBit); }
MCKEAN_INLINE Vec flip_sign(Vec v, Word sign) { return from_bits(bits(v) ^ sign); }
MCKEAN_INLINE Vec copy_sign(Vec v, Vec sign) { return from_bits((bits(v) & ~kSignBit) | (bits(sign) & kSignBit)); }
MCKEAN_INLINE Mask is_nan(Vec v) { return not_equal(v, v); }

// Adding this to |x| < 2^51 rounds it to an integer, which then also stands in the low bits of the sum.
inline constexpr double kRounder = 6755399441055744.0;  // 1.5 * 2^52

// 2^n, n an integer in the low bits of each lane, -1022 <= n <= 1023.
MCKEAN_INLINE Vec power_of_two(Word n) { return from_bits((n + 1023) << 52); }

// p * 2^n rounded once, |n| <= 2000; the integer n is given as a double and in the low bits of each lane.
MCKEAN_INLINE Vec scale(Vec p, [[maybe_unused]] Vec n, [[maybe_unused]] Word n_bits) {
#if defined(__AVX512F__)
  return _mm512_scalef_pd(p, n);
#else
  const Word half = (Word)((HalfInt)n_bits >> 1);
  return p * power_of_two(half) * power_of_two(n_bits - half);
#endif
}

// y, but f(x) in the lanes of bad. For arguments too rare to be fast.
[[gnu::noinline, gnu::cold]] static Vec repair(double (*f)(double), Vec x, Vec y, Mask bad) {
  double in[W], out[W], flag[W];
  store(in, x);
  store(out, y);
  store(flag, select(bad, splat(1), splat(0)));
  for (std::size_t j = 0; j < W; ++j)
    if (flag[j] != 0) out[j] = f(in[j]);
  return load(out);
}

// c[0] + c[1] x + c[2] x^2 + ... by Horner's rule.
template <std::size_t N>
MCKEAN_INLINE Vec polynomial(const double (&c)[N], Vec x) {
  Vec p = splat(c[N - 1]);
#pragma GCC unroll 32
  for (std::size_t k = 2; k <= N; ++k) p = fma(p, x, splat(c[N - k]));
  return p;
}
}  // namespace mckean::MCKEAN_WIDTH
