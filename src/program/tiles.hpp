// Tiles of 32 normals, by Philox and Box-Muller on vectors: sqrt(-2 log u1) times cos(2 pi u2) in the first
// half of a tile and times sin(2 pi u2) in the second.
#pragma once

#include "program/kernels.hpp"
#include "program/philox.hpp"
#include "program/vector_math.hpp"

namespace mckean::MCKEAN_WIDTH {

using Single [[gnu::vector_size(8 * W)]] = float;  // 2W floats
using Half [[gnu::vector_size(8 * W)]] = std::uint32_t;
inline constexpr std::size_t kTile = 32;

#if defined(__AVX512F__)
MCKEAN_INLINE Single fma(Single a, Single b, Single c) { return _mm512_fmadd_ps(a, b, c); }
MCKEAN_INLINE Single sqrt(Single a) { return _mm512_sqrt_ps(a); }
MCKEAN_INLINE Vec low_half(Single a) { return _mm512_cvtps_pd(_mm512_castps512_ps256(a)); }
MCKEAN_INLINE Vec high_half(Single a) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1)); }
#elif defined(__AVX2__)
MCKEAN_INLINE Single fma(Single a, Single b, Single c) { return _mm256_fmadd_ps(a, b, c); }
MCKEAN_INLINE Single sqrt(Single a) { return _mm256_sqrt_ps(a); }
MCKEAN_INLINE Vec low_half(Single a) { return _mm256_cvtps_pd(_mm256_castps256_ps128(a)); }
MCKEAN_INLINE Vec high_half(Single a) { return _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1)); }
#else
MCKEAN_INLINE Single fma(Single a, Single b, Single c) { return a * b + c; }
MCKEAN_INLINE Single sqrt(Single a) { return _mm_sqrt_ps(a); }
MCKEAN_INLINE Vec low_half(Single a) { return _mm_cvtps_pd(a); }
MCKEAN_INLINE Vec high_half(Single a) { return _mm_cvtps_pd(_mm_movehl_ps(a, a)); }
#endif

MCKEAN_INLINE Single splat_single(float x) { return x - Single{}; }
MCKEAN_INLINE Single to_single(Half word) {
  return __builtin_convertvector((HalfInt)word, Single);  // signed: every width has that conversion
}
MCKEAN_INLINE void store_doubles(double* out, Single v) {
  store(out, low_half(v));
  store(out + W, high_half(v));
}

template <std::size_t N>
MCKEAN_INLINE Single polynomial(const float (&c)[N], Single x) {
  Single p = splat_single(c[N - 1]);
#pragma GCC unroll 32
  for (std::size_t k = 2; k <= N; ++k) p = fma(p, x, splat_single(c[N - k]));
  return p;
}

// log u for normal u > 0, to 2^-24: as log in vector_exp.hpp.
MCKEAN_INLINE Single log_single(Single u) {
  static constexpr float c[] = {0.333339106f, -0.250013368f, 0.199630676f, -0.165775933f,
                                0.149147404f, -0.142674147f, 0.0870041466f};
  const HalfInt t = (HalfInt)u - 0x3F3504F3;  // the bits of sqrt(1/2)
  const Single k = __builtin_convertvector(t >> 23, Single);
  const Single f = (Single)((HalfInt)u - (t & ~0x7FFFFF)) - 1.0f;
  const Single y = f * f * fma(f, polynomial(c, f), splat_single(-0.5f));
  return fma(k, splat_single(0.693147182f), f + y);
}

// The words of W counters, in the low halves of 64-bit lanes; the high halves are waste.
struct PhiloxWords {
  Word a, b, c, d;
};

struct PhiloxSchedule {
  std::uint64_t key[kPhiloxRounds][2];
  std::uint64_t counter[2];  // words 2 and 3

  MCKEAN_INLINE PhiloxSchedule(const void* keys, const void* counters) {
    std::uint32_t k[2], c[2];
    __builtin_memcpy(k, keys, sizeof k);
    __builtin_memcpy(c, counters, sizeof c);
    for (std::uint32_t round = 0; round < kPhiloxRounds; ++round)
      for (std::uint32_t i = 0; i < 2; ++i) key[round][i] = k[i] + round * kPhiloxWeyl[i];
    for (int i = 0; i < 2; ++i) counter[i] = c[i];
  }

  MCKEAN_INLINE PhiloxWords words(Word word0, Word word1) const {
    PhiloxWords x = {word0, word1, splat_word(counter[0]), splat_word(counter[1])};
#pragma GCC unroll 10
    for (int round = 0; round < kPhiloxRounds; ++round) {
      const Word p0 = mul_low_halves(x.a, splat_word(kPhiloxMultiplier[0]));
      const Word p1 = mul_low_halves(x.c, splat_word(kPhiloxMultiplier[1]));
      x = {(p1 >> 32) ^ x.b ^ splat_word(key[round][0]), p1, (p0 >> 32) ^ x.d ^ splat_word(key[round][1]), p0};
    }
    return x;
  }
};

// u1 = (word/2 + 1/2) 2^-31 and u2 = word 2^-32, so that |Z| <= sqrt(64 log 2) = 6.66.
MCKEAN_INLINE void box_muller_single(Half word1, Half word2, double* cosines, double* sines) {
  static constexpr float s[] = {-0.166666546f, 0.00833216071f, -0.000195152765f};
  static constexpr float c[] = {0.0416666457f, -0.00138873165f, 2.44331781e-05f};
  const Single u1 = (to_single(word1 >> 1) + 0.5f) * 0x1p-31f;
  const Single radius = sqrt(-2.0f * log_single(u1));

  // u2 turns = quadrant (the top bits, rounded) + the rest, which word2 << 2 holds as a signed fraction.
  const Half quadrant = word2 + 0x20000000u;
  const Single r = to_single(word2 << 2) * static_cast<float>(kHalfPi * 0x1p-32), z = r * r;
  const Single sin_r = fma(r * z, polynomial(s, z), r);
  const Single cos_r = fma(z, fma(z, polynomial(c, z), splat_single(-0.5f)), splat_single(1.0f));
  const HalfInt odd = (HalfInt)(quadrant << 1) < 0;
  const Single cosine = odd ? sin_r : cos_r, sine = odd ? cos_r : sin_r;
  const Half cos_sign = (quadrant + 0x40000000u) & 0x80000000u, sin_sign = quadrant & 0x80000000u;
  store_doubles(cosines, radius * (Single)((Half)cosine ^ cos_sign));
  store_doubles(sines, radius * (Single)((Half)sine ^ sin_sign));
}

// The double one: u1 is an odd multiple of 2^-53, so |Z| <= sqrt(106 log 2) = 8.57.
MCKEAN_INLINE void box_muller_full(Word word1, Word word2, double* cosines, double* sines) {
  constexpr std::uint64_t one = 0x3FF0000000000000u;
  const Vec u1 = from_bits((word1 >> 12) | one) - (1 - 0x1p-53);
  const Vec radius = sqrt(-2 * log_inside(u1));

  const Word quadrant = (word2 + (std::uint64_t{1} << 61)) >> 62;
  const Vec fraction = from_bits((((word2 << 2) ^ kSignBit) >> 12) | one) - 1.5;
  const SinCos y = sincos_of_parts(kHalfPi * fraction, quadrant);
  store(cosines, radius * y.cos);
  store(sines, radius * y.sin);
}

// (high, low) from the low halves of each lane
MCKEAN_INLINE Word join(Word high, Word low) { return high << 32 | (low & 0xFFFFFFFFu); }

// The two kinds of normals: how many counters make a tile, and what becomes of their words.
struct FloatNormals {
  static constexpr std::uint32_t counters = 8;
  MCKEAN_INLINE static void pack(const PhiloxWords& x, Word& word1, Word& word2) {
    word1 = join(x.c, x.a), word2 = join(x.d, x.b);
  }
  MCKEAN_INLINE static void finish(Word word1, Word word2, double* cosines, double* sines) {
    box_muller_single((Half)word1, (Half)word2, cosines, sines);
  }
};

struct DoubleNormals {
  static constexpr std::uint32_t counters = 16;
  MCKEAN_INLINE static void pack(const PhiloxWords& x, Word& word1, Word& word2) {
    word1 = join(x.a, x.b), word2 = join(x.c, x.d);
  }
  MCKEAN_INLINE static void finish(Word word1, Word word2, double* cosines, double* sines) {
    box_muller_full(word1, word2, cosines, sines);
  }
};

// Words of several tiles first, then their normals: two short loops of independent turns keep the machine
// busier than one long one. counters(offset) gives words 0 and 1 of the counters offset .. offset + W - 1 of the
// next tile.
template <class Normals, class Counters>
MCKEAN_INLINE void for_tiles(const PhiloxSchedule& philox, std::size_t count, Counters counters, double* out) {
  constexpr std::uint32_t batch = 64 / Normals::counters, parts = Normals::counters / W, width = 16 / parts;
  for (std::size_t done = 0; done < count; done += batch) {
    const std::size_t tiles = count - done < batch ? count - done : batch;
    Word word1[batch * parts], word2[batch * parts];
    for (std::size_t t = 0; t < tiles; ++t, counters.next())
      for (std::uint32_t p = 0; p < parts; ++p)
        Normals::pack(philox.words(counters.word0(p * W), counters.word1(p * W)), word1[t * parts + p],
                      word2[t * parts + p]);
    for (std::size_t t = 0; t < tiles; ++t, out += kTile)
      for (std::size_t p = 0; p < parts; ++p)
        Normals::finish(word1[t * parts + p], word2[t * parts + p], out + p * width, out + 16 + p * width);
  }
}

template <class Normals>
struct RangeCounters {
  const TileRange& range;
  std::uint32_t tile, step;
  std::size_t left;

  MCKEAN_INLINE Word word0(std::uint32_t offset) const {
    Word lane;
    for (std::size_t j = 0; j < W; ++j) lane[j] = j;
    return splat_word(tile * Normals::counters + offset) + lane;
  }
  MCKEAN_INLINE Word word1(std::uint32_t) const { return splat_word(step); }
  MCKEAN_INLINE void next() {
    tile += range.step;
    if (--left > 0) return;
    tile = range.first, left = range.count;
    ++step;
  }
};

template <class Normals>
struct ListedCounters {
  const std::uint64_t *first, *second;

  MCKEAN_INLINE static Word load_words(const std::uint64_t* p) {
    Word w;
    __builtin_memcpy(&w, p, sizeof w);
    return w;
  }
  MCKEAN_INLINE Word word0(std::uint32_t offset) const { return load_words(first + offset); }
  MCKEAN_INLINE Word word1(std::uint32_t offset) const { return load_words(second + offset); }
  MCKEAN_INLINE void next() { first += Normals::counters, second += Normals::counters; }
};

template <class Normals>
MCKEAN_INLINE void tiles_of(const TileRange& range, double* out) {
  std::uint32_t counter[3];
  __builtin_memcpy(counter, &range.counter, sizeof counter);
  for_tiles<Normals>(PhiloxSchedule(&range.key, counter + 1), range.count * range.repeats,
                     RangeCounters<Normals>{range, range.first, counter[0], range.count}, out);
}

template <class Normals>
MCKEAN_INLINE void tiles_of(const CounterList& list, double* out) {
  for_tiles<Normals>(PhiloxSchedule(&list.key, &list.counter), list.tiles,
                     ListedCounters<Normals>{list.word0, list.word1}, out);
}

inline void normals_float(const TileRange& range, double* out) { tiles_of<FloatNormals>(range, out); }
inline void normals_double(const TileRange& range, double* out) { tiles_of<DoubleNormals>(range, out); }
inline void listed_float(const CounterList& list, double* out) { tiles_of<FloatNormals>(list, out); }
inline void listed_double(const CounterList& list, double* out) { tiles_of<DoubleNormals>(list, out); }
}  // namespace mckean::MCKEAN_WIDTH
