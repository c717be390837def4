// The vector instructions of block programs, compiled once for each vector width and chosen at run time.
//
// All of a program's arithmetic happens here. The same source is compiled for AVX-512, AVX2+FMA and plain
// x86-64; the two fused widths return the same bits, and sums run in 8 fixed logical lanes, so results do
// not depend on the machine's vector width. (Plain has no fused multiply-add: same accuracy, other bits.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mckean {

// One vector of every width holds a whole number of these; lengths are padded to a multiple of it.
inline constexpr std::size_t kLanes = 8;

enum class Instr : std::uint8_t {
  copy,
  add,
  sub,
  mul,
  div,
  neg,
  fma,   // a*b + c
  fms,   // a*b - c
  fnma,  // c - a*b
  min,
  max,
  abs,
  sign,
  sqrt,
  relu,
  less,
  less_equal,
  equal,
  not_equal,  // 1.0 or 0.0
  select,     // a != 0 ? b : c
  sin,
  cos,
  sincos,  // sincos: d0 = sin(a), d1 = cos(a)
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  exp,
  expm1,
  log,
  log1p,
  sigmoid,
  softplus,
  erf,
  pow,  // a^b
  lgamma,
  polygamma  // derivative of order a (a number, the same in all lanes) of digamma at b
};
inline constexpr std::size_t kInstrCount = static_cast<std::size_t>(Instr::polygamma) + 1;

// Where an operand is read from: a column of doubles (stride 1), or kLanes equal doubles (stride 0).
struct Source {
  const double* data;
  std::size_t stride;
};

// d1 is used by sincos alone. n is a multiple of kLanes; pointers are aligned to 64 bytes. A destination may
// be the same column as an operand.
using Kernel = void (*)(double* d0, double* d1, Source a, Source b, Source c, std::size_t n);

// d = before + Σ coefficient_k · column_k over 1 .. kMostTerms terms, fused, in order of k. `before` may be d itself;
// without it (data is null) the sum begins with the first product. Coefficients are kLanes equal doubles.
inline constexpr std::size_t kMostTerms = 6;
using CombineKernel = void (*)(double* d, Source before, const double* const* columns,
                               const double* const* coefficients, std::size_t n);

// 32 normals a tile, see noise/noise.hpp for what the words of key and counter mean.
struct TileRange {
  std::array<std::uint32_t, 2> key;
  std::array<std::uint32_t, 3> counter;  // counter words 1..3; word 0 runs over the tile
  std::uint32_t first, step;             // tiles first, first + step, first + 2*step, ...
  std::size_t count;
  std::size_t repeats;  // all of them again with counter word 1 one larger, and so on
};

// Tiles whose counters have nothing to do with each other, as many to a tile as its kind of normal takes.
struct CounterList {
  std::array<std::uint32_t, 2> key;
  std::array<std::uint32_t, 2> counter;  // counter words 2 and 3
  const std::uint64_t *word0, *word1;
  std::size_t tiles;
};

// Products T_a(u) T_b(v) of Chebyshev polynomials with a + b < degree, as coefficients: row a, column b, rows `stride`
// apart (a multiple of kLanes, at least degree); one such triangle of degree x stride numbers after another. Zero
// outside.
inline constexpr std::size_t kMostDegree = 24;
struct Triangles {
  std::size_t degree, stride, count;
  std::size_t size() const { return degree * stride; }
};

// Rows of a matrix that are used together with one entry of a vector: the first `length` of column c, then the next.
struct Staircase {
  const double* values;
  const std::uint32_t* length;  // multiples of kLanes
  std::size_t columns;
};

struct Kernels {
  const char* name;  // "avx512", "avx2", "plain"
  std::array<Kernel, kInstrCount> run;
  std::array<CombineKernel, kMostTerms> combine;  // by number of terms, from 1
  // lane[j] += the sum of x[8i + j] over all 8i + j < n, in an order that no width changes.
  void (*sum)(const double* x, std::size_t n, double lane[kLanes]);
  // The largest of x[0..n), n >= 1; NaN if any is NaN.
  double (*largest)(const double* x, std::size_t n);
  // to[i] becomes kLanes doubles equal to values[i].
  void (*spread)(const double* values, std::size_t count, double* const* to);
  void (*normals_float)(const TileRange&, double* out);   // 32-bit Box-Muller, 4 normals a counter
  void (*normals_double)(const TileRange&, double* out);  // 64-bit Box-Muller, 2 normals a counter
  void (*listed_float)(const CounterList&, double* out);
  void (*listed_double)(const CounterList&, double* out);
  // Point by point: triangle k of cells[i] += weight[k][i] T_a(u[i]) T_b(v[i]). What lies outside a triangle is waste.
  void (*add_products)(const Triangles&, const double* u, const double* v, const double* const* weight,
                       double* const* cells, std::size_t n);
  // out[k][i] = Σ of triangle k of cells[i] times T_a(u[i]) T_b(v[i]).
  void (*sum_products)(const Triangles&, const double* u, const double* v, const double* const* cells,
                       double* const* out, std::size_t n);
  // to[k][row] += Σ_c value(row, c) from[k][c], for `count` vectors.
  void (*add_staircase)(const Staircase&, const double* const* from, double* const* to, std::size_t count);
};

enum class Width { plain, avx2, avx512 };

bool supported(Width);          // by this processor
const Kernels& kernels(Width);  // throws std::invalid_argument where not supported
const Kernels& kernels();       // the widest supported one
}  // namespace mckean
