#include "engine/quadrature/grid_density.hpp"

namespace mckean {

GridDensity::GridDensity(double from, double grid_step, std::size_t count, std::size_t in_parameters)
    : lo(from),
      step(grid_step),
      points(count),
      parameters(in_parameters),
      x(1, count),
      mass(jet_size(in_parameters), count) {
  for (std::size_t i = 0; i < x.rows(); ++i) x[0][i] = lo + static_cast<double>(i) * step;
}

std::size_t GridDensity::peak() const {
  return static_cast<std::size_t>(std::max_element(mass[0], mass[0] + points) - mass[0]);
}

void GridDensity::trim(double least) {
  const double* p = mass[0];
  const double limit = least * p[peak()];
  std::size_t first = 0, end = points;
  while (first + 1 < end && !(p[first] > limit)) ++first;
  while (end > first + 1 && !(p[end - 1] > limit)) --end;
  if (first == 0 && end == points) return;
  GridDensity kept(x[0][first], step, end - first, parameters);
  for (std::size_t c = 0; c < mass.count(); ++c) std::copy(mass[c] + first, mass[c] + end, kept.mass[c]);
  *this = std::move(kept);
}

GridDensity point_mass(double at, std::size_t parameters) {
  GridDensity point(at, 1, 1, parameters);
  point.mass[0][0] = 1;
  return point;
}
}  // namespace mckean
