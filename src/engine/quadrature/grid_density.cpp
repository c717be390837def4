#include "engine/quadrature/grid_density.hpp"

namespace mckean {

GridDensity::GridDensity(Coordinate& coordinate, double from, double grid_step, std::size_t count,
                         std::size_t in_parameters)
    : lo(from),
      step(grid_step),
      points(count),
      parameters(in_parameters),
      x(1, count),
      jacobian(coordinate.plain() ? 0 : 1, count),
      mass(jet_size(in_parameters), count) {
  if (!coordinate.plain()) {
    coordinate.place(lo, step, count, x[0], jacobian[0]);
    std::fill(x[0] + count, x[0] + x.rows(), x[0][count - 1]);
    return;
  }
  for (std::size_t i = 0; i < x.rows(); ++i) x[0][i] = lo + static_cast<double>(i) * step;
}

GridDensity::GridDensity(const GridDensity& of, std::size_t first, std::size_t count)
    : lo(of.lo + static_cast<double>(first) * of.step),
      step(of.step),
      points(count),
      parameters(of.parameters),
      x(1, count),
      jacobian(of.jacobian.count(), count),
      mass(of.mass.count(), count) {
  std::copy_n(of.x[0] + first, count, x[0]);
  std::fill(x[0] + count, x[0] + x.rows(), x[0][count - 1]);
  for (std::size_t c = 0; c < jacobian.count(); ++c) std::copy_n(of.jacobian[c] + first, count, jacobian[c]);
  for (std::size_t c = 0; c < mass.count(); ++c) std::copy_n(of.mass[c] + first, count, mass[c]);
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
  keep(first, end - first);
}

void GridDensity::keep(std::size_t first, std::size_t count) {
  if (first > 0 || count < points) *this = GridDensity(*this, first, count);
}

GridDensity point_mass(Coordinate& coordinate, double at, std::size_t parameters) {
  GridDensity point(coordinate, coordinate.toward(at, 0), 1, 1, parameters);
  point.x[0][0] = at;
  point.mass[0][0] = 1;
  return point;
}
}  // namespace mckean
