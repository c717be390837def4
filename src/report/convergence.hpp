// The estimate and its error as replicates come in.
#pragma once

#include <vector>

#include "report/facts.hpp"

namespace mckean::report {

struct Running {
  std::size_t replicates;
  double particle_steps;
  std::vector<double> value, error;  // θ and its Monte Carlo error; the latter NaN where not known
};

// After more and more of the replicates, on a logarithmic scale, the last point with all. With several cells, the same
// share of each. All replicates weigh alike, while the stratified estimator gives its rounds fixed shares: ends may
// differ a little, within the error.
std::vector<Running> convergence(const Input&, const Facts&);
}  // namespace mckean::report
