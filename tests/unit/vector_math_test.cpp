// Accuracy, special values and width-independence of the vector elementary functions.
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
constexpr double kNormal = std::numeric_limits<double>::min();
constexpr double kHuge = std::numeric_limits<double>::max();

struct Function {
  const char* name;
  Instr op;
  bool second;       // of the two results of sincos
  double bound;      // ULP
  double low, high;  // where the result is neither 0 nor infinite, or nothing special happens
  std::function<long double(long double)> exact;
};

long double sigmoid(long double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
long double softplus(long double x) { return x < 0 ? std::log1p(std::exp(x)) : x + std::log1p(std::exp(-x)); }

const std::vector<Function>& functions() {
  using R = long double;
  static const std::vector<Function> all = {
      {"sin", Instr::sin, false, 2, -kHuge, kHuge, [](R x) { return std::sin(x); }},
      {"cos", Instr::cos, false, 2, -kHuge, kHuge, [](R x) { return std::cos(x); }},
      {"sin of sincos", Instr::sincos, false, 2, -kHuge, kHuge, [](R x) { return std::sin(x); }},
      {"cos of sincos", Instr::sincos, true, 2, -kHuge, kHuge, [](R x) { return std::cos(x); }},
      {"tan", Instr::tan, false, 4, -kHuge, kHuge, [](R x) { return std::tan(x); }},
      {"asin", Instr::asin, false, 4, -1, 1, [](R x) { return std::asin(x); }},
      {"acos", Instr::acos, false, 4, -1, 1, [](R x) { return std::acos(x); }},
      {"atan", Instr::atan, false, 4, -kHuge, kHuge, [](R x) { return std::atan(x); }},
      {"sinh", Instr::sinh, false, 4, -711, 711, [](R x) { return std::sinh(x); }},
      {"cosh", Instr::cosh, false, 4, -711, 711, [](R x) { return std::cosh(x); }},
      {"tanh", Instr::tanh, false, 4, -30, 30, [](R x) { return std::tanh(x); }},
      {"exp", Instr::exp, false, 2, -750, 711, [](R x) { return std::exp(x); }},
      {"expm1", Instr::expm1, false, 4, -60, 711, [](R x) { return std::expm1(x); }},
      {"log", Instr::log, false, 2, 0, kHuge, [](R x) { return std::log(x); }},
      {"log1p", Instr::log1p, false, 4, -1, kHuge, [](R x) { return std::log1p(x); }},
      {"sigmoid", Instr::sigmoid, false, 4, -750, 50, sigmoid},
      {"softplus", Instr::softplus, false, 4, -750, 750, softplus},
      {"erf", Instr::erf, false, 4, -7, 7, [](R x) { return std::erf(x); }},
  };
  return all;
}

// Uniform on [low, high] and on its moderate parts, log-uniform in both signs down to the denormals, and next
// to the points where one formula hands over to another or the answer is nearly 0.
Values points(const Function& f, int count) {
  std::mt19937_64 random(7);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  Values x;
  const auto add = [&](double v) {
    if (v >= f.low && v <= f.high) x.push_back(v);
  };
  for (int i = 0; i < count; ++i) {
    for (double reach : {1.0, 2.0, 10.0, 100.0, 800.0, 2e6}) {
      const double low = std::max(f.low, -reach), high = std::min(f.high, reach);
      add(low + (high - low) * unit());
    }
    const double sign = random() % 2 == 0 ? 1 : -1;
    add(sign * std::exp2(-1074 + 2098 * unit()));
    add(sign * std::exp2(-60 + 110 * unit()));
    add(1 + sign * std::exp2(-52 * unit()));
    add(-1 + sign * std::exp2(-53 * unit()));
  }
  const int quarter = count / 4;
  for (int i = -quarter; i < quarter; ++i) {
    const long double turn = 1.57079632679489661923132169163975144L, ln2 = 0.693147180559945309417232121458L;
    for (double scale : {1.0, 1e3 * unit(), 1e6 * unit()}) {
      const double near_zero = static_cast<double>(turn * std::round(i * scale));
      add(near_zero);
      add(std::nextafter(near_zero, kInf));
    }
    const double edge = static_cast<double>(ln2 * (i % 2100 + 0.5L));
    add(edge);
    add(std::nextafter(edge, -kInf));
    add(std::ldexp(std::sqrt(0.5) + 1e-16 * (i % 16), i % 1000));
  }
  for (double v : {0.0, 0.5, 1.0, 6.0, 700.0, 709.0, 709.782712893384, 710.4758600739439, 745.13321910194122, 1e6,
                   0x1p30, 0x1p1000, kTiny, kNormal, kHuge})
    for (double s : {1.0, -1.0})
      for (double w : {std::nextafter(s * v, -kInf), s * v, std::nextafter(s * v, kInf)}) add(w);
  return x;
}

double ulp_error(double got, long double exact) {
  const auto rounded = static_cast<double>(exact);
  if (same_bits(got, rounded)) return 0;
  if (!std::isfinite(got) || std::isnan(rounded)) return kInf;
  const int exponent = std::max(std::isfinite(rounded) && exact != 0 ? std::ilogb(rounded) : -1022, -1022);
  return static_cast<double>(std::fabs(got - exact) / std::ldexp(1.0L, exponent - 52));
}

TEST(VectorMath, StaysWithinItsUlpBounds) {
  for (const Function& f : functions()) {
    const Values x = points(f, 20000);
    std::vector<long double> exact;
    for (double v : x) exact.push_back(f.exact(v));
    for (Width w : supported_widths()) {
      const Values y = run(w, f.op, x, nullptr, nullptr, f.second);
      double worst = 0, at = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (const double e = ulp_error(y[i], exact[i]); e > worst) worst = e, at = x[i];
      EXPECT_LE(worst, f.bound) << f.name << " " << kernels(w).name << " at " << std::hexfloat << at;
      std::string key = std::string(f.name) + " " + kernels(w).name;
      for (char& c : key) c = c == ' ' ? '_' : c;
      RecordProperty(key, std::to_string(worst));
    }
  }
}

TEST(VectorMath, SpecialValues) {
  struct Case {
    Instr op;
    double x, y;
  };
  const double half_pi = 1.5707963267948966, pi = 2 * half_pi, log2 = 0.69314718055994529;
  std::vector<Case> cases = {
      {Instr::cos, 0, 1},
      {Instr::cos, -0.0, 1},
      {Instr::sin, kInf, kNaN},
      {Instr::cos, -kInf, kNaN},
      {Instr::tan, kInf, kNaN},
      {Instr::exp, 0, 1},
      {Instr::exp, -0.0, 1},
      {Instr::exp, kInf, kInf},
      {Instr::exp, -kInf, 0},
      {Instr::exp, 710, kInf},
      {Instr::exp, 1e300, kInf},
      {Instr::exp, -746, 0},
      {Instr::exp, -1e300, 0},
      {Instr::exp, -745.13, kTiny},
      {Instr::expm1, kInf, kInf},
      {Instr::expm1, -kInf, -1},
      {Instr::expm1, -1e300, -1},
      {Instr::log, 1, 0},
      {Instr::log, 0, -kInf},
      {Instr::log, -0.0, -kInf},
      {Instr::log, -1, kNaN},
      {Instr::log, kInf, kInf},
      {Instr::log, -kInf, kNaN},
      {Instr::log1p, -1, -kInf},
      {Instr::log1p, -2, kNaN},
      {Instr::log1p, kInf, kInf},
      {Instr::log1p, -kInf, kNaN},
      {Instr::cosh, 0, 1},
      {Instr::cosh, -kInf, kInf},
      {Instr::sinh, -kInf, -kInf},
      {Instr::sinh, 711, kInf},
      {Instr::tanh, kInf, 1},
      {Instr::tanh, -kInf, -1},
      {Instr::tanh, 1e300, 1},
      {Instr::sigmoid, 0, 0.5},
      {Instr::sigmoid, kInf, 1},
      {Instr::sigmoid, -kInf, 0},
      {Instr::softplus, 0, log2},
      {Instr::softplus, kInf, kInf},
      {Instr::softplus, -kInf, 0},
      {Instr::softplus, 1e300, 1e300},
      {Instr::asin, 1, half_pi},
      {Instr::asin, -1, -half_pi},
      {Instr::asin, 1.0000000000000002, kNaN},
      {Instr::asin, kInf, kNaN},
      {Instr::acos, 1, 0},
      {Instr::acos, -1, pi},
      {Instr::acos, 0, half_pi},
      {Instr::acos, -2, kNaN},
      {Instr::atan, kInf, half_pi},
      {Instr::atan, -kInf, -half_pi},
      {Instr::atan, kHuge, half_pi},
      {Instr::erf, kInf, 1},
      {Instr::erf, -kInf, -1},
      {Instr::erf, 1e300, 1},
      {Instr::sqrt, -0.0, -0.0},
      {Instr::sqrt, -1, kNaN},
      {Instr::lgamma, 1, 0},
      {Instr::lgamma, 0, kInf},
      {Instr::lgamma, -1, kInf},
  };
  for (Instr odd :
       {Instr::sin, Instr::tan, Instr::asin, Instr::atan, Instr::sinh, Instr::tanh, Instr::expm1, Instr::log1p})
    for (double v : {0.0, kTiny, 3 * kTiny, kNormal - kTiny}) {
      cases.push_back({odd, v, v});
      cases.push_back({odd, -v, -v});
    }
  cases.push_back({Instr::erf, -0.0, -0.0});
  for (const Function& f : functions()) cases.push_back({f.op, kNaN, kNaN});

  for (Width w : supported_widths())
    for (const Case& c : cases)
      for (std::size_t lane : {0, 5}) {  // among ordinary neighbours, which must not notice
        Values x(kLanes, 0.25);
        x[lane] = c.x;
        const Values y = run(w, c.op, x), quiet = run(w, c.op, Values(kLanes, 0.25));
        EXPECT_TRUE(same_bits(y[lane], c.y))
            << kernels(w).name << " instruction " << static_cast<int>(c.op) << " at " << c.x << " gives " << y[lane];
        for (std::size_t j = 0; j < kLanes; ++j) EXPECT_TRUE(j == lane || same_bits(y[j], quiet[j]));
      }
}

TEST(VectorMath, FusedWidthsGiveTheSameBits) {
  if (!supported(Width::avx512)) GTEST_SKIP();
  for (const Function& f : functions()) {
    Values x = points(f, 5000);
    for (double v : {kInf, -kInf, kNaN, -2.0, 2e300, -2e300}) x.push_back(v);
    const Values a = run(Width::avx2, f.op, x, nullptr, nullptr, f.second);
    const Values b = run(Width::avx512, f.op, x, nullptr, nullptr, f.second);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(same_bits(a[i], b[i])) << f.name << " at " << std::hexfloat << x[i];
  }
}
}  // namespace
}  // namespace mckean::test
