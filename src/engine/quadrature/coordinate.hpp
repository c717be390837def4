// The coordinate z = ∫dx/s(x) in which noise of size s(x) is of size 1: grids that are uniform in z resolve the steps
// of such noise alike everywhere.
//
// x(z) solves dx/dz = s(x). It is kept as polynomials on panels, which are added where they are needed; each solves the
// equation to rounding error, so that x(z) is smooth for the rectangle rule.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "engine/quadrature/formulas.hpp"

namespace mckean {

class Coordinate {
 public:
  Coordinate() = default;                       // z = x
  Coordinate(const Program& scale, double x0);  // z(x0) = 0, where s is not 0; scale: as in Formulas
  bool plain() const { return !frame_.has_value(); }

  // s and s' at points; 1 and 0 where z = x.
  void scale(std::span<const double> x, double* s, double* slope);

  // z where x is, or, where s falls below `floor` on the way there, where it does.
  double toward(double x, double floor);
  double x_at(double z);

  // x and dx/dz at `count` points from z = lo on.
  void place(double lo, double step, std::size_t count, double* x, double* jacobian);

 private:
  static constexpr std::size_t kDegree = 20;
  using Numbers = std::array<double, kDegree + 1>;  // at the nodes of a panel, or of its degrees
  struct Panel {
    double from, length;      // in z; the length is negative to the left of x0
    Numbers x;                // Chebyshev coefficients
    double end_x, end_scale;  // x and s at its far end
  };
  struct Side {
    double sign;
    std::vector<Panel> panels;
    double end() const { return panels.empty() ? 0 : panels.back().from + panels.back().length; }
  };
  bool extend(Side&);  // by a panel; false where x(z) ends
  std::optional<Panel> solve(double from, double length, double x);

  std::optional<Frame> frame_;
  double x0_ = 0, s0_ = 1;
  Side left_{-1, {}}, right_{1, {}};
};
}  // namespace mckean
