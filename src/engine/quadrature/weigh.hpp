// An observation multiplies a filter's density by its own.
#pragma once

#include <span>
#include <string>

#include "engine/quadrature/formulas.hpp"
#include "engine/quadrature/grid_density.hpp"

namespace mckean {

// The observation lies where the density was cut off: everything is repeated with a wider cut.
struct CutTooShort {};

struct Weighed {
  std::vector<double> log_total;  // jet of log ∫ G dp, p the density before
  Columns curvature;              // −∂²log G/∂z² at every point
  double depth;                   // mean of log(peak of p / p) after it: how far in its tail the observation lies
};

class Weigher {
 public:
  Weigher(const Model&, const Formulas&, std::span<const double> theta, double temper);  // G^temper instead of G

  // Multiplies by G(·, values), where NaN means not observed, and normalises. Masses below `least` times the peak are
  // not trusted: throws CutTooShort where they matter. Throws NumericalError: `where` and what is wrong.
  Weighed weigh(GridDensity&, double t, std::span<const double> values, double least, const std::string& where);

 private:
  Columns log_density(const GridDensity&, double t, std::span<const double> values);
  [[noreturn]] void fail(const GridDensity&, std::span<const double> values, const std::string& where,
                         const std::string& why) const;

  const Model& model_;
  std::span<const double> theta_;
  double temper_;
  std::vector<Frame> frames_;
};
}  // namespace mckean
