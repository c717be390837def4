// Smoothed states: the filter's densities, backwards from the last.
#pragma once

#include "engine/quadrature/transport.hpp"
#include "mckean/engine.hpp"

namespace mckean {

class Backward {
 public:
  Backward(const Program& bell, double cut);  // Gaussians end after so many standard deviations

  // p(x_k | all observations) on the filter's grid at k, from that at k + 1, q:
  //   p_i = mass_i Σ_j K_ij q_j / Σ_i mass_i K_ij,   K_ij the Euler step from point i of grid k to point j of grid k
  //   + 1.
  // Cost: that of two steps of the filter.
  std::vector<double> step(const MovingDensity& from, const GridDensity& to, const std::vector<double>& q);

 private:
  // f(j, K_ij) for every j that point i reaches.
  template <class F>
  void each_target(const MovingDensity& from, std::size_t i, const GridDensity& to, F&& f);

  Frame bell_;
  double cut_;
  Columns weights_, out_;
};

// Moments and quantiles of masses on a grid, which sum to 1.
Smoothed summarise(const GridDensity&, const std::vector<double>& mass);
}  // namespace mckean
