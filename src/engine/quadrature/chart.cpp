#include "engine/quadrature/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mckean {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSame = 1e-11;     // relative difference of formulas that are equal
constexpr double kFarCentre = 1e3;  // of exponentials, in sizes of the start, beyond which they cancel
constexpr int kLooks = 24;          // on either side of the start
constexpr double kFarthest = 1e4;   // look, in sizes of the start

// Whether a formula is made of x, numbers and algebraic operations: what is equal at many points is then equal.
bool is_algebraic(Expr root) {
  if ((root.kinds() & ~unsigned{Kind::state}) != 0) return false;
  constexpr std::array kAlgebraic{Op::number, Op::symbol, Op::add, Op::sub, Op::mul,
                                  Op::div,    Op::pow,    Op::neg, Op::abs, Op::sqrt};
  return std::ranges::all_of(reachable(std::span(&root, 1)),
                             [&](Expr e) { return std::ranges::find(kAlgebraic, e.op()) != kAlgebraic.end(); });
}

// C + B u + A u², u the distance from the start.
struct Quadratic {
  double A, B, C;
  double operator()(double u) const { return C + u * (B + u * A); }
  // The nearest roots on either side of 0, where it is positive.
  std::pair<double, double> roots() const {
    const double inside = B * B - 4 * A * C;
    double lo = -kInfinity, hi = kInfinity;
    if (inside < 0 || (A == 0 && B == 0)) return {lo, hi};
    const double q = -(B + std::copysign(std::sqrt(inside), B)) / 2;
    for (const double root : {A != 0 ? q / A : kInfinity, q != 0 ? C / q : kInfinity}) {
      if (root < 0) lo = std::max(lo, root);
      if (root > 0) hi = std::min(hi, root);
    }
    return {lo, hi};
  }
};

// A function of x near the start.
class Shape {
 public:
  Shape(Expr of, Expr x, double at) : of_(of), x_(x), at_(at) {}
  double operator()(double u) const { return evaluate(of_, {{x_.id(), at_ + u}}); }

  // The quadratic that it is; none where it is not.
  std::optional<Quadratic> as_quadratic(double size) const {
    const Expr first = differentiate(of_, x_), second = differentiate(first, x_);
    Quadratic out{Shape(second, x_, at_)(0) / 2, Shape(first, x_, at_)(0), (*this)(0)};
    if (!(out.C > 0) || !std::isfinite(out.A) || !std::isfinite(out.B)) return {};
    if (std::abs(out.A) * size * size < kSame * out.C) out.A = 0;
    if (std::abs(out.B) * size < kSame * out.C) out.B = 0;
    const auto [lo, hi] = out.roots();
    for (int k = 1; k <= kLooks; ++k) {
      const double share = static_cast<double>(k) / (kLooks + 1), far = size * kFarthest * std::pow(share, 6);
      for (const double u : {std::isfinite(lo) ? lo * share : -far, std::isfinite(hi) ? hi * share : far})
        if (!(std::abs((*this)(u)-out(u)) <= kSame * (out.C + std::abs(out.B * u) + std::abs(out.A) * u * u)))
          return {};
    }
    return out;
  }

 private:
  Expr of_, x_;
  double at_;
};

// x(z) − x0 = −B/2A + P e^{rz} + Q e^{−rz}, r = √A.
Chart exponentials(Expr z, double x0, const Quadratic& q) {
  const double r = std::sqrt(q.A), away = q.B / (2 * q.A), s0 = std::sqrt(q.C);
  double P = (away + s0 / r) / 2, Q = (away - s0 / r) / 2;
  if (std::abs(Q) < kSame * std::abs(P)) Q = 0;
  if (std::abs(P) < kSame * std::abs(Q)) P = 0;
  const Expr up = P * exp(r * z), down = Q * exp(-r * z);
  Chart out{(x0 - away) + (up + down), r * (up - down), q.A * (up + down), -kInfinity, kInfinity};
  if (P * Q > 0) {
    const double end = std::log(Q / P) / (2 * r);
    (end < 0 ? out.lo : out.hi) = end;
  }
  return out;
}

// x(z) − x0 = −B/2A + D cos rz + E sin rz, r = √−A.
Chart circle(Expr z, double x0, const Quadratic& q) {
  const double r = std::sqrt(-q.A), away = q.B / (2 * q.A), D = away, E = std::sqrt(q.C) / r;
  const Expr c = cos(r * z), s = sin(r * z), around = D * c + E * s;
  const double hi = std::atan2(E, D) / r;
  return {(x0 - away) + around, r * (E * c - D * s), q.A * around, hi - std::acos(-1.0) / r, hi};
}

Chart parabola(Expr z, double x0, const Quadratic& q) {
  const double s0 = std::sqrt(q.C), end = q.B != 0 ? -2 * s0 / q.B : kInfinity;
  const Expr bend = z.graph().number(q.B / 2);
  Chart out{x0 + z * (s0 + (q.B / 4) * z), s0 + (q.B / 2) * z, bend, -kInfinity, kInfinity};
  if (std::isfinite(end)) (end < 0 ? out.lo : out.hi) = end;
  return out;
}

// s = A (x − lo)(x − hi), A < 0.
Chart logistic(Expr z, double x0, const Quadratic& s) {
  const auto [lo, hi] = s.roots();
  const double width = hi - lo, rate = -s.A * width;
  const Expr p = sigmoid(rate * z + std::log(-lo / hi)), rest = 1.0 - p;
  const Expr slope = (rate * width) * (p * rest);
  return {(x0 + lo) + width * p, slope, rate * (slope * (rest - p)), -kInfinity, kInfinity};
}
}  // namespace

Expr noise_of(const BlockKind& kind) {
  const std::vector<Expr>& row = kind.diffusion[0];
  if (row.size() == 1) return abs(row[0]);
  std::vector<Expr> squares;
  for (const Expr s : row) squares.push_back(s * s);
  return sqrt(sum_of(row[0].graph(), squares));
}

std::optional<Chart> chart_of(const BlockKind& kind) {
  const Expr z = kind.x[0], s = noise_of(kind);
  const double x0 = kind.start[0];
  if (!s.has(Kind::state) || !is_algebraic(s)) return {};
  const double size = x0 != 0 ? std::abs(x0) : 1;
  if (const auto q = Shape(s * s, z, x0).as_quadratic(size)) {
    if (q->A == 0) return parabola(z, x0, *q);
    if (std::abs(q->B / q->A) > kFarCentre * size) return {};
    return q->A > 0 ? exponentials(z, x0, *q) : circle(z, x0, *q);
  }
  const auto q = Shape(s, z, x0).as_quadratic(size);
  if (!q || !(q->A < 0)) return {};
  return logistic(z, x0, *q);
}

std::vector<std::optional<Chart>> make_noise_constant(Blocks& blocks) {
  std::vector<std::optional<Chart>> out(blocks.kinds.size());
  for (std::size_t k = 0; k < blocks.kinds.size(); ++k) {
    BlockKind& kind = blocks.kinds[k];
    const auto& chart = out[k] = chart_of(kind);
    if (!chart) continue;
    const Substitution place{{kind.x[0].id(), chart->x}};
    kind.drift[0] = (substitute(kind.drift[0], place) - 0.5 * chart->bend) / chart->slope;
    kind.diffusion[0] = {kind.x[0].graph().number(1)};
    kind.start[0] = 0;
    for (KindAverage& m : blocks.moments)
      if (m.kind == k) m.of = substitute(m.of, place);
    for (BlockView& view : blocks.views)
      for (ObservedColumn& y : view.columns) {
        if (view.kind != k) continue;
        y.log_density = substitute(y.log_density, place);
        y.arguments = substitute(y.arguments, place);
      }
  }
  return out;
}
}  // namespace mckean
