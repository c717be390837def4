// The log-likelihood along one parameter, through the point at which a report is made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/sections.hpp"

namespace mckean::report {

inline constexpr std::size_t kMostCurves = 6;

// Values of the parameter, with the others at the maximum of the quadratic approximation given it: to second order, the
// profile. Where no information is known, the others stay where they are.
struct CurvePoint {
  double value;
  std::optional<double> relative;  // to that at the centre; none where the data have no likelihood
  double error = 0;                // Monte Carlo error of that
};

struct Curve {
  std::size_t parameter;
  double std_error;  // on the user's scale
  bool ridge;        // the others moved
  std::vector<CurvePoint> points;
};

struct Curves {
  bool quadrature = false;
  std::size_t particles = 0, repeats = 0;  // of the filters
  int level = 0;
  std::optional<double> centre;  // log-likelihood there
  std::vector<Curve> curves;     // of the parameters that have a standard error, a few of them
  double noise = 0;              // typical Monte Carlo error of a point near the top
  std::string problem;           // why there are none
};

Curves likelihood_curves(const Context&);
}  // namespace mckean::report
