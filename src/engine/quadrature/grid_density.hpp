// Masses on a uniform grid, with their derivatives.
#pragma once

#include "engine/jet.hpp"
#include "noise/columns.hpp"

namespace mckean {

struct GridDensity {
  GridDensity(double from, double grid_step, std::size_t count, std::size_t in_parameters);

  double lo, step;
  std::size_t points, parameters;
  Columns x;                 // one column
  Columns mass;              // its jet, an entry a column
  std::size_t peak() const;  // where the mass is largest

  // Drops both ends as far as the mass stays below `least` times its peak.
  void trim(double least);
};

// All mass at one point.
GridDensity point_mass(double at, std::size_t parameters);
}  // namespace mckean
