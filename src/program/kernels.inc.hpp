// The instructions of block programs for one vector width; included by kernels_<width>.cpp only.
#pragma once

#include "expr/special.hpp"
#include "program/cells.inc.hpp"
#include "program/kernels.hpp"
#include "program/tiles.hpp"
#include "program/vector_math.hpp"

namespace mckean::MCKEAN_WIDTH {

// Kernels from functions of vectors. A source of stride 0 is read again and again from the same 8 doubles.
template <class F>
void map1(double* d, double*, Source a, Source, Source, std::size_t n) {
#pragma GCC unroll 4
  for (std::size_t i = 0; i < n; i += W) store(d + i, F{}(load(a.data + i * a.stride)));
}

template <class F>
void map2(double* d, double*, Source a, Source b, Source, std::size_t n) {
#pragma GCC unroll 4
  for (std::size_t i = 0; i < n; i += W) store(d + i, F{}(load(a.data + i * a.stride), load(b.data + i * b.stride)));
}

template <class F>
void map3(double* d, double*, Source a, Source b, Source c, std::size_t n) {
#pragma GCC unroll 4
  for (std::size_t i = 0; i < n; i += W)
    store(d + i, F{}(load(a.data + i * a.stride), load(b.data + i * b.stride), load(c.data + i * c.stride)));
}

template <std::size_t terms>
void combine(double* d, Source before, const double* const* columns, const double* const* coefficients, std::size_t n) {
  const double* c[terms];
  Vec u[terms];
  for (std::size_t k = 0; k < terms; ++k) c[k] = columns[k], u[k] = load(coefficients[k]);
  if (before.data == nullptr) {
    for (std::size_t i = 0; i < n; i += W) {
      Vec total = u[0] * load(c[0] + i);
      for (std::size_t k = 1; k < terms; ++k) total = fma(u[k], load(c[k] + i), total);
      store(d + i, total);
    }
  } else {
    for (std::size_t i = 0; i < n; i += W) {
      Vec total = load(before.data + i * before.stride);
      for (std::size_t k = 0; k < terms; ++k) total = fma(u[k], load(c[k] + i), total);
      store(d + i, total);
    }
  }
}

inline void map_sincos(double* d0, double* d1, Source a, Source, Source, std::size_t n) {
  for (std::size_t i = 0; i < n; i += W) {
    const SinCos y = sincos(load(a.data + i * a.stride));
    store(d0 + i, y.sin);
    store(d1 + i, y.cos);
  }
}

// Functions of single numbers; b is not read where the function has one argument.
template <class F>
void each1(double* d, double*, Source a, Source, Source, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) d[i] = F{}(a.data[a.stride ? i : 0]);
}

template <class F>
void each2(double* d, double*, Source a, Source b, Source, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) d[i] = F{}(a.data[a.stride ? i : 0], b.data[b.stride ? i : 0]);
}

MCKEAN_INLINE Vec truth(Mask m) { return select(m, splat(1), splat(0)); }
MCKEAN_INLINE Vec min(Vec a, Vec b) { return select(is_nan(a), a, min_or_second(a, b)); }
MCKEAN_INLINE Vec max(Vec a, Vec b) { return select(is_nan(a), a, max_or_second(a, b)); }
MCKEAN_INLINE Vec sign(Vec a) {
  const Vec zero = splat(0);
  const Vec s = select(less(zero, a), splat(1), select(less(a, zero), splat(-1), zero));
  return select(is_nan(a), a, s);
}

// Four chains of additions at once: one would wait for each addition to finish.
inline void sum(const double* x, std::size_t n, double lane[kLanes]) {
  constexpr std::size_t parts = kLanes / W, chains = 4;
  Vec total[chains][parts];
  for (auto& chain : total)
    for (Vec& v : chain) v = splat(0);
  std::size_t i = 0;
  for (; i + chains * kLanes <= n; i += chains * kLanes)
    for (std::size_t c = 0; c < chains; ++c)
      for (std::size_t p = 0; p < parts; ++p) total[c][p] += load(x + i + c * kLanes + p * W);
  for (; i + kLanes <= n; i += kLanes)
    for (std::size_t p = 0; p < parts; ++p) total[0][p] += load(x + i + p * W);
  for (std::size_t p = 0; p < parts; ++p)
    store(lane + p * W, load(lane + p * W) + ((total[0][p] + total[1][p]) + (total[2][p] + total[3][p])));
  for (std::size_t j = 0; i + j < n; ++j) lane[j] += x[i + j];
}

// 8 logical lanes here too, so that the sign of a zero is the same at every width.
inline double largest(const double* x, std::size_t n) {
  constexpr std::size_t parts = kLanes / W;
  Vec top[parts], nan = splat(0);
  for (std::size_t p = 0; p < parts; ++p) top[p] = splat(-__builtin_inf());
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::size_t p = 0; p < parts; ++p) {
      const Vec v = load(x + i + p * W);
      top[p] = max_or_second(top[p], v);
      nan = select(is_nan(v), v, nan);
    }
  double lane[kLanes];
  for (std::size_t p = 0; p < parts; ++p) store(lane + p * W, top[p]);
  double best = lane[0];
  bool ordered = !any(is_nan(nan));
  for (std::size_t j = 1; j < kLanes; ++j) best = lane[j] > best ? lane[j] : best;
  for (; i < n; ++i) {
    best = x[i] > best ? x[i] : best;
    ordered = ordered && x[i] == x[i];
  }
  return ordered ? best : __builtin_nan("");
}

// Whole vectors are written because whole vectors are read next: a load that needs several stores would wait for them.
inline void spread(const double* values, std::size_t count, double* const* to) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t p = 0; p < kLanes; p += W) store(to[i] + p, splat(values[i]));
}

// Those that are no operation of a program.
constexpr void add_loops(Kernels& k) {
  k.sum = sum;
  k.largest = largest;
  k.spread = spread;
  k.normals_float = normals_float;
  k.normals_double = normals_double;
  k.listed_float = listed_float;
  k.listed_double = listed_double;
  k.add_products = add_products;
  k.sum_products = sum_products;
  k.add_staircase = add_staircase;
}

constexpr Kernels make_kernels(const char* name) {
  Kernels k{};
  k.name = name;
  const auto unary = [&k]<class F>(Instr op, F) { k.run[static_cast<std::size_t>(op)] = map1<F>; };
  const auto binary = [&k]<class F>(Instr op, F) { k.run[static_cast<std::size_t>(op)] = map2<F>; };
  const auto ternary = [&k]<class F>(Instr op, F) { k.run[static_cast<std::size_t>(op)] = map3<F>; };
  const auto scalar1 = [&k]<class F>(Instr op, F) { k.run[static_cast<std::size_t>(op)] = each1<F>; };
  const auto scalar2 = [&k]<class F>(Instr op, F) { k.run[static_cast<std::size_t>(op)] = each2<F>; };

  k.combine = {combine<1>, combine<2>, combine<3>, combine<4>, combine<5>, combine<6>};
  unary(Instr::copy, [](Vec a) { return a; });
  binary(Instr::add, [](Vec a, Vec b) { return a + b; });
  binary(Instr::sub, [](Vec a, Vec b) { return a - b; });
  binary(Instr::mul, [](Vec a, Vec b) { return a * b; });
  binary(Instr::div, [](Vec a, Vec b) { return a / b; });
  unary(Instr::neg, [](Vec a) { return -a; });
  ternary(Instr::fma, [](Vec a, Vec b, Vec c) { return fma(a, b, c); });
  ternary(Instr::fms, [](Vec a, Vec b, Vec c) { return fms(a, b, c); });
  ternary(Instr::fnma, [](Vec a, Vec b, Vec c) { return fnma(a, b, c); });
  binary(Instr::min, [](Vec a, Vec b) { return min(a, b); });
  binary(Instr::max, [](Vec a, Vec b) { return max(a, b); });
  unary(Instr::abs, [](Vec a) { return abs(a); });
  unary(Instr::sign, [](Vec a) { return sign(a); });
  unary(Instr::sqrt, [](Vec a) { return sqrt(a); });
  unary(Instr::relu, [](Vec a) { return max_or_second(splat(0), a); });
  binary(Instr::less, [](Vec a, Vec b) { return truth(less(a, b)); });
  binary(Instr::less_equal, [](Vec a, Vec b) { return truth(less_equal(a, b)); });
  binary(Instr::equal, [](Vec a, Vec b) { return truth(equal(a, b)); });
  binary(Instr::not_equal, [](Vec a, Vec b) { return truth(not_equal(a, b)); });
  ternary(Instr::select, [](Vec a, Vec b, Vec c) { return select(not_equal(a, splat(0)), b, c); });
  unary(Instr::sin, [](Vec a) { return sin(a); });
  unary(Instr::cos, [](Vec a) { return cos(a); });
  k.run[static_cast<std::size_t>(Instr::sincos)] = map_sincos;
  unary(Instr::tan, [](Vec a) { return tan(a); });
  unary(Instr::asin, [](Vec a) { return asin(a); });
  unary(Instr::acos, [](Vec a) { return acos(a); });
  unary(Instr::atan, [](Vec a) { return atan(a); });
  unary(Instr::sinh, [](Vec a) { return sinh(a); });
  unary(Instr::cosh, [](Vec a) { return cosh(a); });
  unary(Instr::tanh, [](Vec a) { return tanh(a); });
  unary(Instr::exp, [](Vec a) { return exp(a); });
  unary(Instr::expm1, [](Vec a) { return expm1(a); });
  unary(Instr::log, [](Vec a) { return log(a); });
  unary(Instr::log1p, [](Vec a) { return log1p(a); });
  unary(Instr::sigmoid, [](Vec a) { return sigmoid(a); });
  unary(Instr::softplus, [](Vec a) { return softplus(a); });
  unary(Instr::erf, [](Vec a) { return erf(a); });
  scalar2(Instr::pow, [](double a, double b) { return std::pow(a, b); });
  scalar1(Instr::lgamma, [](double a) { return log_gamma(a); });
  scalar2(Instr::polygamma, [](double a, double b) { return polygamma(a, b); });

  add_loops(k);
  return k;
}
}  // namespace mckean::MCKEAN_WIDTH
