// Sums of products of Chebyshev polynomials at points, for one vector width. Every number is one chain of fused
// multiplications and additions whatever the width.
#pragma once

#include "program/kernels.hpp"
#include "program/vector_math.hpp"

namespace mckean::MCKEAN_WIDTH {

// T_0 .. of u and of v, zero from `degree` to `stride`.
struct PolynomialsAt {
  alignas(64) double u[kMostDegree], v[kMostDegree];

  MCKEAN_INLINE PolynomialsAt(double at_u, double at_v, const Triangles& t) {
    u[0] = v[0] = 1;
    u[1] = at_u, v[1] = at_v;
    const double twice_u = 2 * at_u, twice_v = 2 * at_v;
    for (std::size_t a = 2; a < t.degree; ++a) {
      u[a] = twice_u * u[a - 1] - u[a - 2];
      v[a] = twice_v * v[a - 1] - v[a - 2];
    }
    for (std::size_t a = t.degree; a < t.stride; ++a) v[a] = 0;
  }
};

inline void add_products(const Triangles& t, const double* u, const double* v, const double* const* weight,
                         double* const* cells, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const PolynomialsAt at(u[i], v[i], t);
    double* to = cells[i];
    for (std::size_t k = 0; k < t.count; ++k)
      for (std::size_t a = 0; a < t.degree; ++a, to += t.stride) {
        const Vec factor = splat(weight[k][i] * at.u[a]);
        for (std::size_t b = 0; a + b < t.degree; b += W) store(to + b, fma(factor, load(at.v + b), load(to + b)));
      }
  }
}

// Even and odd rows apart, then the columns in order.
inline void sum_products(const Triangles& t, const double* u, const double* v, const double* const* cells,
                         double* const* out, std::size_t n) {
  alignas(64) double part[kMostDegree];
  for (std::size_t i = 0; i < n; ++i) {
    const PolynomialsAt at(u[i], v[i], t);
    const double* from = cells[i];
    for (std::size_t k = 0; k < t.count; ++k, from += t.degree * t.stride) {
      for (std::size_t b = 0; b < t.degree; b += W) {
        Vec even = splat(0), odd = splat(0);
        std::size_t a = 0;
        for (; a + b + 1 < t.degree; a += 2) {
          even = fma(splat(at.u[a]), load(from + a * t.stride + b), even);
          odd = fma(splat(at.u[a + 1]), load(from + (a + 1) * t.stride + b), odd);
        }
        if (a + b < t.degree) even = fma(splat(at.u[a]), load(from + a * t.stride + b), even);
        store(part + b, (even + odd) * load(at.v + b));
      }
      double total = 0;
      for (std::size_t b = 0; b < t.degree; ++b) total += part[b];
      out[k][i] = total;
    }
  }
}

// Rows first .. of one column.
MCKEAN_INLINE void add_column(const double* column, double factor, double* to, std::size_t first, std::size_t end) {
  const Vec f = splat(factor);
  for (std::size_t row = first; row < end; row += W) store(to + row, fma(f, load(column + row), load(to + row)));
}

// Four columns at a time, as far as all of them reach: what is added to is loaded and stored once for all.
inline void add_staircase(const Staircase& c, const double* const* from, double* const* to, std::size_t count) {
  constexpr std::size_t together = 4;
  const double* column[together] = {c.values, nullptr, nullptr, nullptr};
  std::size_t j = 0;
  for (; j + together <= c.columns; j += together) {
    const std::uint32_t* length = c.length + j;
    std::size_t shared = length[0];
    for (std::size_t i = 1; i < together; ++i) {
      column[i] = column[i - 1] + length[i - 1];
      shared = length[i] < shared ? length[i] : shared;
    }
    for (std::size_t k = 0; k < count; ++k) {
      const Vec f0 = splat(from[k][j]), f1 = splat(from[k][j + 1]), f2 = splat(from[k][j + 2]),
                f3 = splat(from[k][j + 3]);
      double* into = to[k];
      for (std::size_t row = 0; row < shared; row += W) {
        Vec sum = fma(f0, load(column[0] + row), load(into + row));
        sum = fma(f1, load(column[1] + row), sum);
        sum = fma(f2, load(column[2] + row), sum);
        store(into + row, fma(f3, load(column[3] + row), sum));
      }
      for (std::size_t i = 0; i < together; ++i) add_column(column[i], from[k][j + i], into, shared, length[i]);
    }
    column[0] = column[together - 1] + length[together - 1];
  }
  for (; j < c.columns; column[0] += c.length[j], ++j)
    for (std::size_t k = 0; k < count; ++k) add_column(column[0], from[k][j], to[k], 0, c.length[j]);
}
}  // namespace mckean::MCKEAN_WIDTH
