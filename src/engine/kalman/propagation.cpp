#include "engine/kalman/propagation.hpp"

#include <algorithm>
#include <cmath>

namespace mckean {

using Eigen::Index, Eigen::MatrixXd;

namespace {

constexpr double kShort = 0.25;  // norm of the generator times the time of the series
constexpr int kTerms = 14;       // of the series: 0.25^14/14! is below rounding
constexpr int kMostDoublings = 200;

JetMatrix identity(Index d, std::size_t parameters) { return {MatrixXd::Identity(d, d), parameters}; }
}  // namespace

Propagation euler_step(const Coefficients& k, const StepTime& step) {
  return {identity(k.A.rows(), k.A.parameters()) + step.flow * k.A, step.flow * k.B, step.flow * k.c,
          step.variance * k.Q};
}

namespace {

// x ↦ F x + M m + f, without noise.
struct Affine {
  JetMatrix F, M, f;

  JetMatrix law_mean(const JetMatrix& m) const { return (F + M) * m + f; }
  JetMatrix law_covariance(const JetMatrix& P) const { return F * P * F.transposed(); }
  void add(double factor, const Affine& other) { F += factor * other.F, M += factor * other.M, f += factor * other.f; }
};

// The drift at a point to which `to` leads, where the law moves alike.
Affine drift_at(const Coefficients& k, const Affine& to) {
  return {k.A * to.F, k.A * to.M + k.B * (to.F + to.M), (k.A + k.B) * to.f + k.c};
}
}  // namespace

Propagation splitting_step(LinearFormulas::Reader& reader, const StepTime& step, const JetMatrix& law_mean,
                           const JetMatrix& law_covariance) {
  const Index d = law_mean.rows();
  const std::size_t p = law_mean.parameters();
  const Affine start{identity(d, p), JetMatrix(d, d, p), JetMatrix(d, 1, p)};
  const auto coefficients = [&](double share, const Affine& to) {
    return reader.at(step.t + share * step.flow, to.law_mean(law_mean), to.law_covariance(law_covariance));
  };
  constexpr double kShare[] = {0, 0.5, 0.5, 1}, kWeight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  Affine end = start, slope;
  for (int i = 0; i < 4 && step.flow > 0; ++i) {
    Affine stage = start;
    if (i > 0) stage.add(kShare[i] * step.flow, slope);
    slope = drift_at(coefficients(kShare[i], stage), stage);
    end.add(kWeight[i] * step.flow, slope);
  }
  return {end.F, end.M, end.f, step.variance * coefficients(1, end).Q};
}

Propagation composed(const Propagation& first, const Propagation& second) {
  const JetMatrix& F = second.F;
  return {F * first.F, F * first.M + second.M * (first.F + first.M), (F + second.M) * first.f + second.f,
          F * first.Q * F.transposed() + second.Q};
}

Propagation repeated(const Propagation& step, std::size_t n) {
  std::optional<Propagation> out;
  for (Propagation power = step;; power = composed(power, power)) {
    if (n % 2 == 1) out = out ? composed(*out, power) : power;
    n /= 2;
    if (n == 0) return *out;
  }
}

// With G = (A B c; 0 A + B c; 0 0 0), (F M f) is the first row of exp(G h); Q' = A Q + Q Aᵀ + σσᵀ.
Propagation exactly(const Coefficients& k, double h) {
  const Index d = k.A.rows();
  const std::size_t p = k.A.parameters();
  JetMatrix G(2 * d + 1, 2 * d + 1, p);
  G.put(0, 0, k.A), G.put(0, d, k.B), G.put(0, 2 * d, k.c), G.put(d, d, k.A + k.B), G.put(d, 2 * d, k.c);
  double size = 0;
  for (std::size_t b = 0; b <= p; ++b)  // the derivatives' series must converge as well
    if (!G.zero(jet_index(0, b))) size = std::max(size, G[jet_index(0, b)].topLeftCorner(2 * d, 2 * d).norm());
  int doublings = 0;
  while (size * h > kShort && doublings < kMostDoublings) h /= 2, ++doublings;
  JetMatrix E = identity(2 * d + 1, p), term = E;
  JetMatrix Q(d, d, p), part = h * k.Q;
  for (int i = 1; i <= kTerms; ++i) {
    term = (h / i) * (term * G);
    E += term;
    Q += part;
    part = (h / (i + 1)) * (k.A * part + part * k.A.transposed());
  }
  Propagation out{E.block(0, 0, d, d), E.block(0, d, d, d), E.block(0, 2 * d, d, 1), Q};
  for (int i = 0; i < doublings; ++i) out = composed(out, out);
  return out;
}
}  // namespace mckean
