// The Euler kernel moves a density: every point spreads its mass as a Gaussian over the points of another grid.
#pragma once

#include "engine/quadrature/fields.hpp"

namespace mckean {

// to(y) += step Σ_i mass_i N(y; mean_i, sd_i²), each Gaussian cut at `cut` standard deviations, and its derivatives:
// with z = (y − mean)/sd and μ = ∂mean/sd,
//   ∂_a      [∂_a mass + mass μ_a z] N
//   ∂_a∂_b   [∂_a∂_b mass + (∂_a mass μ_b + ∂_b mass μ_a + mass μ_ab) z + mass μ_a μ_b (z² − 1)] N.
// Every Gaussian must fit on the grid (see `reach`). The bits do not depend on the vector width.
void spread(const GridDensity& from, const Fields& fields, double cut, GridDensity& to);

// The same where z is not x, with a frame of Formulas::bell: to(y) += step dx/dz Σ_i …; Gaussians end where the grid
// does.
void spread_mapped(const GridDensity& from, const Fields& fields, double cut, Frame& bell, GridDensity& to);

// The grid on which all Gaussians fit, and how many of its points all of them have: numbers that may be too large or
// not finite.
struct Reach {
  double lo, points, targets;
};
Reach reach(const GridDensity& from, const Fields& fields, double cut, double step);

// The same where z is not x; a grid ends where the noise vanishes. Throws NoiseVanishes where that loses mass.
struct Cut {
  double at;         // standard deviations after which Gaussians end
  double may_cross;  // share of the mass that may get lost beyond a zero of the noise
};
Reach mapped_reach(const GridDensity& from, const Fields& fields, Cut, double step, Coordinate&);
struct NoiseVanishes {
  double at, share;      // x, and the share of the mass that a step takes beyond it
  std::size_t kind = 0;  // of the block
};
}  // namespace mckean
