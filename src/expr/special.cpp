#include "expr/special.hpp"

#include <cmath>
#include <limits>

namespace mckean {
namespace {

using Real = long double;

constexpr Real kPi = 3.14159265358979323846264338327950288L;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Bernoulli numbers B_2, B_4, ...
constexpr Real kBernoulli[] = {1.0L / 6,       -1.0L / 30,       1.0L / 42,       -1.0L / 30,
                               5.0L / 66,      -691.0L / 2730,   7.0L / 6,        -3617.0L / 510,
                               43867.0L / 798, -174611.0L / 330, 854513.0L / 138, -236364091.0L / 2730};

// psi(x) = log y - 1/(2y) - sum_k B_2k/(2k y^2k) - sum_{j<m} 1/(x + j), y = x + m
Real digamma(Real x) {
  Real shift = 0;
  for (; x < 20; x += 1) shift += 1 / x;
  const Real z = 1 / (x * x);
  Real sum = 0, power = 1;
  int k = 0;
  for (Real b : kBernoulli) {
    power *= z;
    sum += b * power / static_cast<Real>(2 * ++k);
  }
  return std::log(x) - 1 / (2 * x) - sum - shift;
}

// (-1)^(n+1) psi_n(x) = n! sum_{j<m} (x + j)^-(n+1)
//   + (n-1)!/y^n + n!/(2 y^(n+1)) + sum_k B_2k (2k+n-1)!/((2k)! y^(2k+n)),  y = x + m
Real polygamma_positive(int n, Real x) {
  const Real factorial = std::tgamma(static_cast<Real>(n) + 1);
  Real shift = 0;
  for (; x < 20 + n; x += 1) shift += factorial * std::pow(x, static_cast<Real>(-n - 1));
  const Real lead = factorial / n * std::pow(x, static_cast<Real>(-n)), z = 1 / (x * x);
  Real sum = lead * (1 + n / (2 * x)), term = lead;
  int k = 0;  // term = (2k + n - 1)!/((2k)! x^(2k + n))
  for (Real b : kBernoulli) {
    term *= z * (2 * k + n) * (2 * k + n + 1) / static_cast<Real>((2 * k + 1) * (2 * k + 2));
    sum += b * term;
    ++k;
  }
  return (n % 2 == 1 ? 1 : -1) * (shift + sum);
}
}  // namespace

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double polygamma(double n, double x) {
  if (!(n >= 0 && n <= 1000 && n == std::floor(n)) || std::isnan(x)) return kNaN;
  const int order = static_cast<int>(n);
  if (x > 0) {
    if (std::isinf(x)) return order == 0 ? x : 0;
    return static_cast<double>(order == 0 ? digamma(x) : polygamma_positive(order, x));
  }
  if (x == std::floor(x) || order > 1) return kNaN;  // -infinity too: it equals its floor
  const Real up = 1 - static_cast<Real>(x), angle = kPi * (static_cast<Real>(x) - std::round(static_cast<Real>(x)));
  if (order == 0) return static_cast<double>(digamma(up) - kPi / std::tan(angle));
  const Real s = std::sin(angle) / kPi;
  return static_cast<double>(1 / (s * s) - polygamma_positive(1, up));
}
}  // namespace mckean
