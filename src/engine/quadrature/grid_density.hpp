// Masses on a grid that is uniform in a coordinate z, with their derivatives.
#pragma once

#include "engine/jet.hpp"
#include "engine/quadrature/coordinate.hpp"
#include "noise/columns.hpp"

namespace mckean {

struct GridDensity {
  GridDensity(Coordinate&, double from, double grid_step, std::size_t count, std::size_t in_parameters);

  GridDensity(const GridDensity& of, std::size_t first, std::size_t count);  // a part of it

  double lo, step;  // of z
  std::size_t points, parameters;
  Columns x;                 // one column
  Columns jacobian;          // dx/dz; none where z = x
  Columns mass;              // its jet, an entry a column
  std::size_t peak() const;  // where the mass is largest

  // Drops both ends as far as the mass stays below `least` times its peak.
  void trim(double least);
  void keep(std::size_t first, std::size_t count);
};

// All mass at one point.
GridDensity point_mass(Coordinate&, double at, std::size_t parameters);
}  // namespace mckean
