// What an Euler step does at every point of a grid, given the averages over the law.
#pragma once

#include <span>

#include "engine/quadrature/convolution.hpp"
#include "engine/quadrature/grid_density.hpp"
#include "problem/grid.hpp"

namespace mckean {

// The step from x is N(mean(x), sd(x)²), where the mean depends on the dynamic parameters.
struct Fields {
  Columns mean;  // its jet
  Columns sd;    // one column
};

class FieldReader {
 public:
  FieldReader(const Formulas&, std::span<const double> theta);

  std::vector<double> moments(const GridDensity& law, double t);  // their jets
  // Given the law and its moments. Cost: points, and that of pairwise interactions.
  Fields fields(const GridDensity&, const GridDensity& law, std::span<const double> moments, const StepTime&);
  // Values of a pairwise kernel, or what costs as much.
  double pairs(const GridDensity&, const GridDensity& law) const;

 private:
  Columns pairwise(const GridDensity&, const GridDensity& law, double t);

  const Formulas& formulas_;
  Frame step_, measure_, pair_;
  std::optional<Convolution> convolution_;
};
}  // namespace mckean
