// What one point of a grid adds to all columns of the next: mass times a Gaussian, with derivatives as in spread.hpp.
// Inlined, so that callers are compiled for each vector width.
#pragma once

#include "engine/quadrature/spread.hpp"

namespace mckean {

// One column of the result: out += A w + B w1 + C w2.
struct Polynomial {
  double A, B, C;
};
enum class Degree { zero, one, two };

[[gnu::always_inline]] inline void add_column(Degree degree, Polynomial p, const double* __restrict w,
                                              const double* __restrict w1, const double* __restrict w2,
                                              double* __restrict out, std::size_t count) {
  if (degree == Degree::zero)
    for (std::size_t j = 0; j < count; ++j) out[j] += p.A * w[j];
  else if (degree == Degree::one)
    for (std::size_t j = 0; j < count; ++j) out[j] += p.A * w[j] + p.B * w1[j];
  else
    for (std::size_t j = 0; j < count; ++j) out[j] += p.A * w[j] + (p.B * w1[j] + p.C * w2[j]);
}

// The jet of mass · Gaussian at one point; shift(b): μ_b, which is absent for parameters that do not move the mean.
class JetPoint {
 public:
  JetPoint(const GridDensity& from, const Fields& fields) : from_(from), fields_(fields) {
    while (jet_size(dynamic_) < fields.mean.count()) ++dynamic_;
  }

  Degree degree(std::size_t a, std::size_t b) const {
    const auto moving = [&](std::size_t p) { return p > 0 && p <= dynamic_; };
    return moving(a) && moving(b) ? Degree::two : moving(a) || moving(b) ? Degree::one : Degree::zero;
  }

  Polynomial polynomial(std::size_t a, std::size_t b, std::size_t i, double inverse_sd) const {
    const auto mass = [&](std::size_t p, std::size_t q) { return from_.mass[jet_index(p, q)][i]; };
    const auto shift = [&](std::size_t p, std::size_t q) {
      return std::max(p, q) > dynamic_ ? 0.0 : fields_.mean[jet_index(p, q)][i] * inverse_sd;
    };
    if (b == 0) return {mass(0, 0), 0, 0};
    if (a == 0) return {mass(0, b), mass(0, 0) * shift(0, b), 0};
    return {mass(a, b), mass(0, a) * shift(0, b) + mass(0, b) * shift(0, a) + mass(0, 0) * shift(a, b),
            mass(0, 0) * shift(0, a) * shift(0, b)};
  }

 private:
  const GridDensity& from_;
  const Fields& fields_;
  std::size_t dynamic_ = 0;
};

// One Gaussian on the points of the new grid: its weights from `first` on.
struct Bell {
  const double *w, *w1, *w2;
  std::size_t first, count;
};

[[gnu::always_inline]] inline void add_bell(const JetPoint& point, std::size_t i, double inverse_sd, const Bell& bell,
                                            GridDensity& to) {
  for (std::size_t b = 0; b <= to.parameters; ++b)
    for (std::size_t a = 0; a <= b; ++a)
      add_column(point.degree(a, b), point.polynomial(a, b, i, inverse_sd), bell.w, bell.w1, bell.w2,
                 to.mass[jet_index(a, b)] + bell.first, bell.count);
}
}  // namespace mckean
