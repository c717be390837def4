// Circular functions and their inverses on vectors. Coefficients and bounds as in vector_exp.hpp.
#pragma once

#include <cmath>

#include "program/simd.hpp"

namespace mckean::MCKEAN_WIDTH {

inline constexpr double kTwoOverPi = 0.63661977236758138;
inline constexpr double kHalfPi = 1.5707963267948966;
inline constexpr double kHalfPiLow = 6.123233995736766e-17;

// Beyond this the reduction is no longer exact enough, and libm takes over.
inline constexpr double kTrigLimit = kFused ? 0x1p30 : 1e6;

// x = n pi/2 + r, |r| <= pi/4; the low bits of n_bits hold n. The first step is exact, and the later ones
// round only where the earlier ones cancelled.
MCKEAN_INLINE Vec reduce_by_half_pi(Vec x, Word& n_bits) {
  const Vec t = fma(x, splat(kTwoOverPi), splat(kRounder));
  n_bits = bits(t);
  const Vec n = t - kRounder;
  if constexpr (kFused) {
    // The parts are all positive, which keeps the sign of a zero.
    const Vec r = fnma(n, splat(6.1232339957367648e-17), fnma(n, splat(kHalfPi), x));
    return fnma(n, splat(1.082856673921914e-32), r);
  } else {  // three parts of 33 bits, whose products with n are exact, and the rest
    const Vec r = x - n * 1.5707963267341256;
    const Vec second = n * 6.077100506303966e-11, third = n * 2.0222662487111665e-21;
    const Vec difference = r - second;
    const Vec lost = (r - difference) - second;
    return (difference - (third - lost)) - n * 8.4784276603688996e-32;
  }
}

// |r| <= pi/4, to 2^-58; the sign is put back because -0 + 0 is 0.
MCKEAN_INLINE Vec sin_near_zero(Vec r) {
  static constexpr double c[] = {-0.1666666666666663,    0.0083333333333221182,   -0.00019841269829588601,
                                 2.7557313621051797e-06, -2.5050747709111362e-08, 1.5896226954114592e-10};
  const Vec z = r * r;
  return from_bits(bits(fma(r * z, polynomial(c, z), r)) | (bits(r) & kSignBit));
}

// |r| <= pi/4, to 2^-64
MCKEAN_INLINE Vec cos_near_zero(Vec r) {
  static constexpr double c[] = {0.041666666666666595,    -0.0013888888888873056, 2.4801587288850745e-05,
                                 -2.7557314179007923e-07, 2.0875700801256136e-09, -1.1358534342924533e-11};
  const Vec z = r * r;
  return fma(z, fma(z, polynomial(c, z), splat(-0.5)), splat(1));
}

struct SinCos {
  Vec sin, cos;
};

// sin and cos of n pi/2 + r
MCKEAN_INLINE SinCos sincos_of_parts(Vec r, Word n) {
  const Vec s = sin_near_zero(r), c = cos_near_zero(r);
  return {flip_sign(select_odd(n, c, s), (n & 2) << 62), flip_sign(select_odd(n, s, c), ((n + 1) & 2) << 62)};
}

// Everywhere, as sin and cos below: 1.5 ULP. libm beyond kTrigLimit.
MCKEAN_INLINE SinCos sincos(Vec x) {
  Word n;
  const Vec r = reduce_by_half_pi(x, n);
  SinCos y = sincos_of_parts(r, n);
  const Mask bad = not_less_equal(abs(x), splat(kTrigLimit));
  if (any(bad)) [[unlikely]]
    y = {repair([](double v) { return std::sin(v); }, x, y.sin, bad),
         repair([](double v) { return std::cos(v); }, x, y.cos, bad)};
  return y;
}

MCKEAN_INLINE Vec sin(Vec x) {
  Word n;
  const Vec r = reduce_by_half_pi(x, n);
  const Vec y = sincos_of_parts(r, n).sin;
  const Mask bad = not_less_equal(abs(x), splat(kTrigLimit));
  if (any(bad)) [[unlikely]]
    return repair([](double v) { return std::sin(v); }, x, y, bad);
  return y;
}

MCKEAN_INLINE Vec cos(Vec x) {
  Word n;
  const Vec r = reduce_by_half_pi(x, n);
  const Vec y = sincos_of_parts(r, n).cos;
  const Mask bad = not_less_equal(abs(x), splat(kTrigLimit));
  if (any(bad)) [[unlikely]]
    return repair([](double v) { return std::cos(v); }, x, y, bad);
  return y;
}

// Everywhere; 3.1 / 3.4 ULP. libm beyond kTrigLimit.
MCKEAN_INLINE Vec tan(Vec x) {
  Word n;
  const Vec r = reduce_by_half_pi(x, n);
  const Vec s = sin_near_zero(r), c = cos_near_zero(r);
  const Vec y = flip_sign(select_odd(n, c, s) / select_odd(n, s, c), n << 63);
  const Mask bad = not_less_equal(abs(x), splat(kTrigLimit));
  if (any(bad)) [[unlikely]]
    return repair([](double v) { return std::tan(v); }, x, y, bad);
  return y;
}

// asin(s) = p, where s = |x|, or sqrt((1 - |x|)/2) where |x| > 1/2: then asin|x| = pi/2 - 2p.
struct ArcSine {
  Vec p;
  Mask far;
};

// (asin(s) - s)/s^3 to 2^-59. NaN outside [-1, 1] by way of the root.
MCKEAN_INLINE ArcSine arc_sine(Vec a) {
  static constexpr double c[] = {
      0.1666666666666676,   0.074999999999707967,  0.044642857174614123, 0.03038194270770803,  0.022372214989031317,
      0.01735161199993214,  0.013980820602104366,  0.011398912486185605, 0.010780248289858171, 0.0037064344547918827,
      0.021707368045332749, -0.020998932273689753, 0.032628533173800892};
  const Mask far = less(splat(0.5), a);
  const Vec z = select(far, 0.5 * (1 - a), a * a);
  const Vec s = select(far, sqrt(z), a);
  return {fma(s * z, polynomial(c, z), s), far};
}

// Everywhere; 2.2 ULP.
MCKEAN_INLINE Vec asin(Vec x) {
  const ArcSine s = arc_sine(abs(x));
  return copy_sign(select(s.far, kHalfPi - (2 * s.p - kHalfPiLow), s.p), x);
}

// Everywhere; 1.2 ULP. base + turn, where turn is -asin(x), or 2p, or -2p from base = pi.
MCKEAN_INLINE Vec acos(Vec x) {
  const ArcSine s = arc_sine(abs(x));
  const Vec zero = splat(0), half = splat(kHalfPi), half_low = splat(kHalfPiLow);
  const Mask left = less(x, zero);
  const Vec base = select(s.far, select(left, 2 * half, zero), half);
  const Vec low = select(s.far, select(left, 2 * half_low, zero), half_low);
  const Vec far_turn = select(left, -2 * s.p, 2 * s.p), near_turn = select(left, s.p, -s.p);
  return base + (low + select(s.far, far_turn, near_turn));
}

// (atan(y) - y)/y^3 to 2^-60 for |y| <= 1; atan(x) = pi/2 - atan(1/x) beyond. Everywhere; 1.7 / 1.9 ULP.
MCKEAN_INLINE Vec atan(Vec x) {
  static constexpr double c[] = {-0.33333333333333287,   0.19999999999990448,    -0.14285714285036577,
                                 0.11111111086445802,    -0.090909085472259732,  0.076922997113957448,
                                 -0.066665837192861177,  0.058817161304062733,   -0.052594336703227884,
                                 0.047449256659422692,   -0.042863895905605798,  0.038210033350461949,
                                 -0.032785373430099421,  0.026151589092012126,   -0.018614115114173317,
                                 0.01131758151496009,    -0.005612344664780681,  0.0021515687804943597,
                                 -0.0005928872578953849, 0.00010387074580954205, -8.6541034931069597e-06};
  const Vec a = abs(x), one = splat(1);
  const Mask far = less(one, a);
  const Vec y = select(far, -one, a) / select(far, a, one), z = y * y;
  const Vec p = fma(y * z, polynomial(c, z), y);
  return copy_sign(select(far, kHalfPi + (kHalfPiLow + p), p), x);
}
}  // namespace mckean::MCKEAN_WIDTH
