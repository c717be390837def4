// Arithmetic, comparisons, operand strides, reductions and dispatch of the block kernels.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

#include "kernel_columns.hpp"

namespace mckean::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();

// Every triple of awkward numbers.
struct Triples {
  Values a, b, c;
  Triples() {
    const double odd[] = {0.0, -0.0, 1.0, -1.5, kTiny, -kTiny, 1e308, -1e308, kInf, -kInf, kNaN, 0.1};
    for (double x : odd)
      for (double y : odd)
        for (double z : odd) {
          a.push_back(x);
          b.push_back(y);
          c.push_back(z);
        }
  }
};

TEST(Kernels, ArithmeticMatchesItsDefinition) {
  using Definition = std::function<double(double, double, double)>;
  const auto nan = [](double x, double y) { return std::isnan(x) || std::isnan(y); };
  const std::vector<std::pair<Instr, Definition>> table = {
      {Instr::copy, [](double a, double, double) { return a; }},
      {Instr::add, [](double a, double b, double) { return a + b; }},
      {Instr::sub, [](double a, double b, double) { return a - b; }},
      {Instr::mul, [](double a, double b, double) { return a * b; }},
      {Instr::div, [](double a, double b, double) { return a / b; }},
      {Instr::neg, [](double a, double, double) { return -a; }},
      {Instr::min, [&](double a, double b, double) { return nan(a, b) ? kNaN
                                                            : a < b   ? a
                                                                      : b; }},
      {Instr::max, [&](double a, double b, double) { return nan(a, b) ? kNaN
                                                            : a > b   ? a
                                                                      : b; }},
      {Instr::abs, [](double a, double, double) { return std::fabs(a); }},
      {Instr::sign, [](double a, double, double) { return std::isnan(a) ? a
                                                          : a > 0       ? 1.0
                                                          : a < 0       ? -1.0
                                                                        : 0.0; }},
      {Instr::sqrt, [](double a, double, double) { return std::sqrt(a); }},
      {Instr::relu, [](double a, double, double) { return std::isnan(a) ? a
                                                          : a > 0       ? a
                                                                        : 0.0; }},
      {Instr::less, [](double a, double b, double) { return a < b ? 1.0 : 0.0; }},
      {Instr::less_equal, [](double a, double b, double) { return a <= b ? 1.0 : 0.0; }},
      {Instr::equal, [](double a, double b, double) { return a == b ? 1.0 : 0.0; }},
      {Instr::not_equal, [](double a, double b, double) { return a != b ? 1.0 : 0.0; }},
      {Instr::select, [](double a, double b, double c) { return a != 0 ? b : c; }},
      {Instr::pow, [](double a, double b, double) { return std::pow(a, b); }},
  };
  const Triples t;
  for (Width w : supported_widths())
    for (const auto& [op, definition] : table) {
      const Values y = run(w, op, t.a, t.b, t.c);
      for (std::size_t i = 0; i < y.size(); ++i) {
        const double want = definition(t.a[i], t.b[i], t.c[i]);
        // The sign of the zero that min, max and relu pick is not part of the contract.
        EXPECT_TRUE(same_bits(y[i], want) || (y[i] == 0 && want == 0 && op != Instr::copy && op != Instr::neg))
            << kernels(w).name << " instruction " << static_cast<int>(op) << " of " << t.a[i] << ", " << t.b[i] << ", "
            << t.c[i] << " gives " << y[i] << ", not " << want;
      }
    }
}

TEST(Kernels, FusedMultiplyAddRoundsOnceWhereFused) {
  const Triples t;
  for (Width w : supported_widths()) {
    const bool fused = w != Width::plain;
    const Values p = run(w, Instr::fma, t.a, t.b, t.c), m = run(w, Instr::fms, t.a, t.b, t.c),
                 n = run(w, Instr::fnma, t.a, t.b, t.c);
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double a = t.a[i], b = t.b[i], c = t.c[i];
      EXPECT_TRUE(same_bits(p[i], fused ? std::fma(a, b, c) : a * b + c));
      EXPECT_TRUE(same_bits(m[i], fused ? std::fma(a, b, -c) : a * b - c));
      EXPECT_TRUE(same_bits(n[i], fused ? std::fma(-a, b, c) : c - a * b));
    }
  }
}

TEST(Kernels, FusedWidthsGiveTheSameBits) {
  if (!supported(Width::avx512)) GTEST_SKIP();
  const Triples t;
  for (std::size_t op = 0; op < kInstrCount; ++op) {
    const auto instr = static_cast<Instr>(op);
    const Values x = run(Width::avx2, instr, t.a, t.b, t.c), y = run(Width::avx512, instr, t.a, t.b, t.c);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(same_bits(x[i], y[i])) << "instruction " << op;
  }
}

// A stride-0 operand acts as the column filled with its number, at every length, and in place.
TEST(Kernels, StridesLengthsAndInPlaceDestinations) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(0.1, 0.9);
  for (Width w : supported_widths())
    for (std::size_t op = 0; op < kInstrCount; ++op)
      for (std::size_t n : {8, 16, 24, 40, 128})
        for (unsigned strides = 0; strides < 8; ++strides) {
          Values column[3], full[3];
          Source source[3];
          for (unsigned k = 0; k < 3; ++k) {
            const std::size_t stride = strides >> k & 1;
            column[k].resize(stride ? n : kLanes);
            const double constant = static_cast<Instr>(op) == Instr::polygamma && k == 0 ? 2 : unit(random);
            for (double& x : column[k]) x = stride ? unit(random) : constant;
            full[k] = stride ? column[k] : Values(n, constant);
            source[k] = {column[k].data(), stride};
          }
          if (static_cast<Instr>(op) == Instr::polygamma && (strides & 1)) continue;
          const Values want = run(w, static_cast<Instr>(op), full[0], full[1], full[2]);
          Values d0(n + kLanes, -7), d1(n + kLanes, -7);
          const Kernel kernel = kernels(w).run[op];
          kernel(d0.data(), d1.data(), source[0], source[1], source[2], n);
          for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(same_bits(d0[i], want[i])) << "instruction " << op;
          for (std::size_t i = n; i < n + kLanes; ++i) ASSERT_EQ(d0[i], -7) << "written past the end";
          for (unsigned k = 0; k < 3; ++k) {
            if (!(strides >> k & 1)) continue;
            Values saved = column[k];
            kernel(column[k].data(), d1.data(), source[0], source[1], source[2], n);
            for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(same_bits(column[k][i], want[i])) << "in place " << op;
            column[k].swap(saved);
            source[k].data = column[k].data();
          }
        }
}

TEST(Kernels, SincosMayOverwriteItsArgumentByEitherResult) {
  for (Width w : supported_widths()) {
    Values x(24), other(24);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.37 * static_cast<double>(i);
    const Values s = run(w, Instr::sin, x), c = run(w, Instr::cos, x);
    const Kernel kernel = kernels(w).run[static_cast<std::size_t>(Instr::sincos)];
    Values a = x, b = x;
    kernel(a.data(), other.data(), {a.data(), 1}, {}, {}, a.size());
    EXPECT_EQ(a, s);
    EXPECT_EQ(other, c);
    kernel(other.data(), b.data(), {b.data(), 1}, {}, {}, b.size());
    EXPECT_EQ(b, c);
    EXPECT_EQ(other, s);
  }
}

// Four chains of eight lanes for whole groups of 32, the first chain for what is left of whole eights.
TEST(Kernels, SumAddsInAnOrderThatNoWidthChanges) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (Width w : supported_widths())
    for (std::size_t n : {0, 1, 7, 8, 9, 15, 16, 31, 100, 129}) {
      Values x(n);
      for (double& v : x) v = normal(random) * std::exp(10 * normal(random));
      double lane[kLanes], want[kLanes];
      for (std::size_t j = 0; j < kLanes; ++j) lane[j] = want[j] = normal(random);
      double chain[4][kLanes] = {};
      for (std::size_t i = 0; i < n / kLanes * kLanes; ++i)
        chain[i < n / 32 * 32 ? i / kLanes % 4 : 0][i % kLanes] += x[i];
      for (std::size_t j = 0; j < kLanes; ++j) want[j] += (chain[0][j] + chain[1][j]) + (chain[2][j] + chain[3][j]);
      for (std::size_t i = n / kLanes * kLanes; i < n; ++i) want[i % kLanes] += x[i];
      kernels(w).sum(x.data(), n, lane);
      for (std::size_t j = 0; j < kLanes; ++j) EXPECT_EQ(lane[j], want[j]);
    }
}

TEST(Kernels, LargestFindsEveryPlaceAndEveryNaN) {
  for (Width w : supported_widths())
    for (std::size_t n : {1, 2, 7, 8, 9, 17, 33})
      for (std::size_t at = 0; at < n; ++at) {
        Values x(n, -3.0);
        x[at] = -2.0;
        EXPECT_EQ(kernels(w).largest(x.data(), n), -2.0);
        x[at] = kNaN;
        EXPECT_TRUE(std::isnan(kernels(w).largest(x.data(), n))) << n << " " << at;
        x.assign(n, -kInf);
        EXPECT_EQ(kernels(w).largest(x.data(), n), -kInf);
      }
}

TEST(Kernels, TheWidestSupportedOnesAreChosen) {
  EXPECT_STREQ(kernels().name, kernels(supported_widths().back()).name);
  EXPECT_TRUE(supported(Width::plain));
  for (Width w : {Width::avx2, Width::avx512})
    if (!supported(w)) {
      EXPECT_THROW(kernels(w), std::invalid_argument);
    }
}
}  // namespace
}  // namespace mckean::test
