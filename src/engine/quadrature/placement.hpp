// Grids of formulas that are written in z (see Chart): what x is on them, normal starts of x, and where z ends.
#pragma once

#include "engine/quadrature/spread.hpp"

namespace mckean {

class Placement {
 public:
  explicit Placement(const PlaceFormulas&);

  // The start N(x0, sd²) of x as a density of z: the inverse variance of its sharpest part, the grid that holds it, and
  // its masses there, which end at `least` of the peak. Throws NoiseVanishes where too much of it lies elsewhere.
  double start_sharpness(double sd);
  Reach start_reach(double sd, double least, double step);
  void spread_start(double sd, double may_cross, GridDensity& to);

  // Drops points beyond the ends, or so near to one that the next flow may not be trusted. Throws NoiseVanishes where
  // they have mass.
  void keep_inside(GridDensity&, double margin, double may_cross);
  bool contains(double z) const { return z > formulas_.lo && z < formulas_.hi; }

  Columns at(const double* z, std::size_t count);  // x, dx/dz, d²x/dz²
  double x_at(double z) { return at(&z, 1)[0][0]; }

 private:
  double reach_from_start(double sd, double least, double step);

  const PlaceFormulas& formulas_;
  Frame frame_;
};

// The same density on the points in x.
GridDensity in_x(const KindFormulas&, const GridDensity&);
}  // namespace mckean
