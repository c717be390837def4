// exp, log and what is made of them, on vectors.
//
// The polynomials are minimax fits made for this file: a Remez exchange in 60-digit arithmetic, weighted so
// that the relative error of the whole function is level, then rounded to double. The bounds in ULP are the
// largest seen against long double over the test's points, for the fused widths / for plain.
#pragma once

#include <cmath>

#include "program/simd.hpp"

namespace mckean::MCKEAN_WIDTH {

inline constexpr double kLog2E = 1.4426950408889634;
inline constexpr double kLn2High = 0.69314718055989033;  // 42 bits: its product with an exponent is exact
inline constexpr double kLn2Low = 5.4979230187083712e-14;

// e^x = 2^n (1 + q), |q| < 0.42
struct ExpParts {
  Vec q, n;
  Word n_bits;
};

// x = n ln2 + r
MCKEAN_INLINE Vec reduce_by_ln2(Vec x, Vec& n, Word& n_bits) {
  const Vec t = fma(x, splat(kLog2E), splat(kRounder));
  n_bits = bits(t);
  n = t - kRounder;
  return fnma(n, splat(kLn2Low), fnma(n, splat(kLn2High), x));
}

// |x| < 1000. (e^r - 1 - r)/r^2 to 2^-61.
MCKEAN_INLINE ExpParts exp_parts(Vec x) {
  static constexpr double c[] = {0.5,
                                 0.16666666666666677,
                                 0.041666666666666512,
                                 0.0083333333333216915,
                                 0.0013888888888962283,
                                 0.00019841269885967127,
                                 2.4801587172694999e-05,
                                 2.7557244373046089e-06,
                                 2.7557402518940786e-07,
                                 2.5108979252282437e-08,
                                 2.0875366147928507e-09};
  ExpParts e;
  const Vec r = reduce_by_ln2(x, e.n, e.n_bits);
  e.q = fma(r * r, polynomial(c, r), r);
  return e;
}

// Everywhere; 0.97 ULP.
MCKEAN_INLINE Vec exp(Vec x) {
  x = max_or_second(splat(-746), min_or_second(splat(710), x));
  const ExpParts e = exp_parts(x);
  return scale(1 + e.q, e.n, e.n_bits);
}

// -745 < x < 709
MCKEAN_INLINE Vec expm1_inside(Vec x) {
  const ExpParts e = exp_parts(x);
  const Vec s = power_of_two(e.n_bits);
  return fma(s, e.q, s - 1);
}

// Everywhere; 1.8 / 2.0 ULP. libm above 709.
MCKEAN_INLINE Vec expm1(Vec x) {
  const Vec y = copy_sign(expm1_inside(max_or_second(splat(-40), x)), x);
  const Mask bad = not_less_equal(x, splat(709));
  if (any(bad)) [[unlikely]]
    return repair([](double v) { return std::expm1(v); }, x, y, bad);
  return y;
}

// sinh r and cosh r - 1 for the remainder, and a = (2^n + 2^-n)/2, b = (2^n - 2^-n)/2.
struct HyperbolicParts {
  Vec sinh, cosh1, a, b;
};

// |x| <= 700. (sinh r - r)/r^3 to 2^-61, (cosh r - 1)/r^2 to 2^-70.
MCKEAN_INLINE HyperbolicParts hyperbolic_parts(Vec x) {
  static constexpr double odd[] = {0.16666666666666677, 0.0083333333333216689, 0.00019841269886023604,
                                   2.7557244315616882e-06, 2.5108999221241025e-08};
  static constexpr double even[] = {0.5,
                                    0.041666666666666713,
                                    0.0013888888888864209,
                                    2.4801587362943993e-05,
                                    2.755724216714e-07,
                                    2.092432891911704e-09};
  Vec n;
  Word k;
  const Vec r = reduce_by_ln2(x, n, k), z = r * r;
  const Vec up = power_of_two(k - 1), down = power_of_two(-1 - k);
  return {fma(r * z, polynomial(odd, z), r), z * polynomial(even, z), up + down, up - down};
}

// sinh(x) = a sinh r + b cosh r. Everywhere; 1.8 / 2.3 ULP. libm beyond 700.
MCKEAN_INLINE Vec sinh(Vec x) {
  const HyperbolicParts h = hyperbolic_parts(x);
  const Vec y = copy_sign(h.b + fma(h.a, h.sinh, h.b * h.cosh1), x);
  const Mask bad = not_less_equal(abs(x), splat(700));
  if (any(bad)) [[unlikely]]
    return repair([](double v) { return std::sinh(v); }, x, y, bad);
  return y;
}

// cosh(x) = a cosh r + b sinh r. Everywhere; 1.8 ULP. libm beyond 700.
MCKEAN_INLINE Vec cosh(Vec x) {
  const HyperbolicParts h = hyperbolic_parts(x);
  const Vec y = h.a + fma(h.b, h.sinh, h.a * h.cosh1);
  const Mask bad = not_less_equal(abs(x), splat(700));
  if (any(bad)) [[unlikely]]
    return repair([](double v) { return std::cosh(v); }, x, y, bad);
  return y;
}

// tanh|x| = -t/(2 + t), t = expm1(-2|x|). Everywhere; 2.6 ULP.
MCKEAN_INLINE Vec tanh(Vec x) {
  const Vec t = expm1_inside(-min_or_second(splat(40), 2 * abs(x)));
  return copy_sign(t / (2 + t), x);
}

// 1/(1 + e^-x). Everywhere; 2.4 ULP.
MCKEAN_INLINE Vec sigmoid(Vec x) {
  const Vec e = exp(-abs(x));
  return select(less(x, splat(0)), e, splat(1)) / (1 + e);
}

// x = 2^k m, m in [sqrt(1/2), sqrt(2)); x positive and normal.
struct LogParts {
  Vec m, k;
  Word biased;  // k + 1023
};

MCKEAN_INLINE LogParts log_parts(Vec x) {
  const Word t = bits(x) + (0x3FF0000000000000u - 0x3FE6A09E667F3BCDu);  // less the bits of sqrt(1/2)
  const Word biased = t >> 52;
  const Vec k = from_bits(biased | 0x4330000000000000u) - (4503599627370496.0 + 1023);
  return {from_bits(bits(x) - (biased << 52) + (std::uint64_t{1023} << 52)), k, biased};
}

// k ln2 + log(1 + f); (log(1 + f) - f + f^2/2)/f^3 to 2^-59.
MCKEAN_INLINE Vec log_of_parts(Vec f, Vec k) {
  static constexpr double c[] = {
      0.33333333333333454,  -0.2499999999999892,   0.19999999999946141,  -0.16666666666914379,
      0.14285714293840346,  -0.12499999982019369,  0.11111110516105535,  -0.10000000383293017,
      0.090909335038736966, -0.08333345758551132,  0.076917145066265777, -0.071420001153600102,
      0.066751479157388299, -0.062698005107906837, 0.058177817442070276, -0.053267830545081489,
      0.054159714284387837, -0.062750313836562752, 0.056968389350624454, -0.024275985245928174};
  const Vec y = f * f * fma(f, polynomial(c, f), splat(-0.5));
  return fma(k, splat(kLn2High), f + fma(k, splat(kLn2Low), y));
}

// x positive, normal, finite.
MCKEAN_INLINE Vec log_inside(Vec x) {
  const LogParts p = log_parts(x);
  return log_of_parts(p.m - 1, p.k);
}

// Everywhere; 0.87 ULP. libm for denormals and what is not positive and finite.
MCKEAN_INLINE Vec log(Vec x) {
  const Vec y = log_inside(x);
  const Mask bad = either(not_less_equal(splat(0x1p-1022), x), not_less_equal(x, splat(0x1.fffffffffffffp1023)));
  if (any(bad)) [[unlikely]]
    return repair([](double v) { return std::log(v); }, x, y, bad);
  return y;
}

// -1 < x <= 2^1000. 1 + x = 2^k m, and m - 1 = 2^-k x + (2^-k - 1) is rounded once.
MCKEAN_INLINE Vec log1p_inside(Vec x) {
  const LogParts p = log_parts(1 + x);
  const Vec s = from_bits((2046 - p.biased) << 52);
  return copy_sign(log_of_parts(fma(x, s, s - 1), p.k), x);
}

// Everywhere; 1.4 ULP. libm above 2^1000 and from -1 down.
MCKEAN_INLINE Vec log1p(Vec x) {
  const Vec y = log1p_inside(x);
  const Mask bad = either(not_less_equal(x, splat(0x1p1000)), less_equal(x, splat(-1)));
  if (any(bad)) [[unlikely]]
    return repair([](double v) { return std::log1p(v); }, x, y, bad);
  return y;
}

// log(1 + e^x) = max(x, 0) + log1p(e^-|x|). Everywhere; 1.7 ULP.
MCKEAN_INLINE Vec softplus(Vec x) { return max_or_second(splat(0), x) + log1p_inside(exp(-abs(x))); }

// erf(x)/x - 1 to 2^-62 where |x| < 1; log erfc(x) in powers of |x| - 1, to 2^-57 of erf, beyond.
// Everywhere; 1.0 / 1.3 ULP.
MCKEAN_INLINE Vec erf(Vec x) {
  static constexpr double near[] = {0.12837916709551259,     -0.37612638903183748,    0.11283791670954857,
                                    -0.026866170645072896,   0.0052239776247808784,   -0.00085483269787428834,
                                    0.00012055331036923937,  -1.4925593507463182e-05, 1.6460972826013486e-06,
                                    -1.6350025315553946e-07, 1.4657880449249399e-08,  -1.1365668232386121e-09,
                                    5.9452654505833268e-11};
  static constexpr double far[] = {
      -1.8496055099332482,     -2.6389675142347815,     -0.84310725635907913,    -0.041561098032695802,
      0.010033825268493377,    -0.0019779018384047361,  0.00023731923888718604,  2.6287700849844571e-05,
      -2.7180169212799857e-05, 9.6416071647409559e-06,  -2.0971686549567712e-06, 1.7460498403104279e-07,
      7.7550913894701003e-08,  -4.274017057353725e-08,  1.1773947549896913e-08,  -2.1189861785297794e-09,
      2.5051605123205601e-10,  -1.7729003148735416e-11, 5.6943204440735271e-13};
  const Vec a = abs(x);
  const ExpParts e = exp_parts(polynomial(far, min_or_second(splat(6), a) - 1));
  const Vec s = power_of_two(e.n_bits);
  const Vec y = copy_sign(1 - fma(s, e.q, s), x);
  return select(less(a, splat(1)), fma(x, polynomial(near, x * x), x), y);
}
}  // namespace mckean::MCKEAN_WIDTH
