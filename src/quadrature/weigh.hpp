// An observation multiplies a filter's density by its own.
#pragma once

#include <span>
#include <string>

#include "quadrature/grid_density.hpp"
#include "quadrature/formulas.hpp"

namespace mckean {

// The observation lies where the density was cut off: everything is repeated with a wider cut.
struct CutTooShort {};

class Weigher {
 public:
  Weigher(const Model&, const Formulas&, std::span<const double> theta);

  // Multiplies by G(·, values), where NaN means not observed, and normalises. `log_value` becomes the jet of the log of the
  // total. Masses below `least` times the peak are not trusted: throws CutTooShort where they matter.
  // Returns −∂²log G/∂x² at every point. Throws NumericalError: `where` and what is wrong.
  Columns weigh(GridDensity&, double t, std::span<const double> values, double least, const std::string& where,
                std::span<double> log_value);

 private:
  Columns log_density(const GridDensity&, double t, std::span<const double> values);
  [[noreturn]] void fail(const GridDensity&, std::span<const double> values, const std::string& where,
                         const std::string& why) const;

  const Model& model_;
  std::span<const double> theta_;
  std::vector<Frame> frames_;
};
}  // namespace mckean
