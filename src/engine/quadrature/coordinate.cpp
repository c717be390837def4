#include "engine/quadrature/coordinate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mckean {
namespace {

constexpr std::size_t kMostPanels = 4000;
constexpr double kFirstLength = 0.5, kShortest = 1e-12;
constexpr int kMostPasses = 40;

// Interpolation at t_k = −cos(πk/n), k = 0..n, of functions on [−1, 1].
template <std::size_t n>
class Lobatto {
 public:
  Lobatto() {
    for (std::size_t k = 0; k <= n; ++k) node_[k] = -std::cos(std::numbers::pi * static_cast<double>(k) / n);
    for (std::size_t k = 0; k <= n; ++k)
      for (std::size_t j = 0; j <= n; ++j)
        to_coefficient_[j][k] = (j % n == 0 ? 1.0 : 2.0) / n * (k % n == 0 ? 0.5 : 1.0) * polynomial(j, node_[k]);
    for (std::size_t i = 0; i <= n; ++i)
      for (std::size_t k = 0; k <= n; ++k)
        for (std::size_t j = 0; j <= n; ++j) integral_[i][k] += to_coefficient_[j][k] * antiderivative(j, node_[i]);
  }

  // ∫ from −1 to t_i of the function with these values.
  double integral(std::size_t i, const std::array<double, n + 1>& f) const { return dot(integral_[i], f); }
  double coefficient(std::size_t j, const std::array<double, n + 1>& f) const { return dot(to_coefficient_[j], f); }

 private:
  using Row = std::array<double, n + 1>;
  static double dot(const Row& a, const Row& b) {
    double sum = 0;
    for (std::size_t k = 0; k <= n; ++k) sum += a[k] * b[k];
    return sum;
  }
  static double polynomial(std::size_t j, double t) { return std::cos(static_cast<double>(j) * std::acos(t)); }
  // Of T_j, from −1.
  static double antiderivative(std::size_t j, double t) {
    const auto up = [&](double s) {
      if (j == 0) return s;
      if (j == 1) return s * s / 2;
      const double m = static_cast<double>(j);
      return 0.5 * (polynomial(j + 1, s) / (m + 1) - polynomial(j - 1, s) / (m - 1));
    };
    return up(t) - up(-1);
  }

  Row node_{};
  std::array<Row, n + 1> to_coefficient_{}, integral_{};
};

// Σ c_j T_j(t), by Clenshaw's recurrence.
template <std::size_t size>
double series(const std::array<double, size>& c, double t) {
  double here = 0, before = 0;
  for (std::size_t j = size - 1; j > 0; --j) {
    const double next = c[j] + 2 * t * here - before;
    before = here, here = next;
  }
  return c[0] + t * here - before;
}
}  // namespace

Coordinate::Coordinate(const Program& scale, double x0) : frame_(scale), x0_(x0) {
  frame_->set_fixed({});
  frame_->set_uniforms({});
  double slope = 0;
  this->scale(std::span(&x0, 1), &s0_, &slope);
}

void Coordinate::scale(std::span<const double> x, double* s, double* slope) {
  if (plain()) {
    std::fill_n(s, x.size(), 1.0), std::fill_n(slope, x.size(), 0.0);
    return;
  }
  alignas(64) double in[kBlock]{}, out[2][kBlock];
  for (std::size_t at = 0; at < x.size(); at += kBlock) {
    const std::size_t n = std::min(kBlock, x.size() - at);
    std::copy_n(x.data() + at, n, in);
    std::fill_n(in + n, (kLanes - n % kLanes) % kLanes, in[n - 1]);
    frame_->run(std::array<const double*, 1>{in}, std::array{out[0], out[1]}, n);
    std::copy_n(out[0], n, s + at), std::copy_n(out[1], n, slope + at);
  }
}

// Picard's iteration x ← x_0 + ∫ s(x) dz on the nodes of a panel; none where it does not come to rest, or a polynomial
// does not hold s(x(z)) up to the rounding of x.
std::optional<Coordinate::Panel> Coordinate::solve(double from, double length, double x) {
  static const Lobatto<kDegree> lobatto;
  Numbers at, s, slope;
  at.fill(x);
  for (int pass = 0; pass < kMostPasses; ++pass) {
    scale(at, s.data(), slope.data());
    double moved = 0, size = std::abs(x), steepest = 0;
    for (std::size_t i = 0; i <= kDegree; ++i) {
      if (!std::isfinite(s[i]) || !(s[i] > 0)) return {};
      const double next = x + 0.5 * length * lobatto.integral(i, s);
      moved = std::max(moved, std::abs(next - at[i]));
      size = std::max(size, std::abs(next));
      steepest = std::max(steepest, std::abs(slope[i]));
      at[i] = next;
    }
    if (!(moved < 4e-15 * size)) continue;
    const double rest = std::abs(lobatto.coefficient(kDegree, s)) + std::abs(lobatto.coefficient(kDegree - 1, s));
    if (!(rest < 1e-14 * std::abs(lobatto.coefficient(0, s)) + 1e-15 * size * steepest)) return {};
    Panel out{from, length, {}, at[kDegree], s[kDegree]};
    for (std::size_t j = 0; j <= kDegree; ++j) out.x[j] = lobatto.coefficient(j, at);
    return out;
  }
  return {};
}

bool Coordinate::extend(Side& side) {
  if (side.panels.size() >= kMostPanels) return false;
  const double x = side.panels.empty() ? x0_ : side.panels.back().end_x;
  double length = side.panels.empty() ? side.sign * kFirstLength : 2 * side.panels.back().length;
  for (; std::abs(length) > kShortest; length /= 2)
    if (const auto next = solve(side.end(), length, x)) {
      side.panels.push_back(*next);
      return next->end_x != x;
    }
  return false;
}

double Coordinate::toward(double x, double floor) {
  if (plain()) return x;
  Side& side = x < x0_ ? left_ : right_;
  const auto beyond = [&](double at) { return side.sign * (x - at) > 0; };
  std::size_t k = 0;
  for (;; ++k) {
    if (k == side.panels.size() && !extend(side)) return side.end();
    if (!beyond(side.panels[k].end_x)) break;
    if (side.panels[k].end_scale < floor) return side.panels[k].from + side.panels[k].length;
  }
  const Panel& p = side.panels[k];
  double near = p.from, far = p.from + p.length;
  for (int i = 0; i < 30; ++i) {
    const double middle = 0.5 * (near + far);
    (beyond(x_at(middle)) ? near : far) = middle;
  }
  return far;
}

double Coordinate::x_at(double z) {
  if (plain()) return z;
  Side& side = z < 0 ? left_ : right_;
  while (side.sign * (z - side.end()) > 0)
    if (!extend(side)) return side.panels.empty() ? x0_ : side.panels.back().end_x;
  const auto panel = std::ranges::lower_bound(side.panels, side.sign * z, {},
                                              [&](const Panel& p) { return side.sign * (p.from + p.length); });
  if (panel == side.panels.end()) return x0_;
  return series(panel->x, 2 * (z - panel->from) / panel->length - 1);
}

void Coordinate::place(double lo, double step, std::size_t count, double* x, double* jacobian) {
  for (std::size_t i = 0; i < count; ++i) {
    const double z = lo + static_cast<double>(i) * step;
    x[i] = x_at(z);
  }
  std::vector<double> slope(count);
  scale(std::span(x, count), jacobian, slope.data());
}
}  // namespace mckean
