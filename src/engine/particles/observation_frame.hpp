// log G_θ(x, y) for many particles at once.
#pragma once

#include <span>

#include "noise/columns.hpp"
#include "step/observation.hpp"

namespace mckean {

class ObservationFrame {
 public:
  ObservationFrame(const Observation&, std::size_t particles, const Kernels&);
  void set_parameters(std::span<const double> theta) { frame_.set_fixed(theta); }

  // log_g[i] = Σ over the observed values of log G at particle i; a missing value (NaN) has G = 1. Returns how
  // many values were observed.
  std::size_t evaluate(double t, std::span<const double> values, const Columns& x, double* log_g);

 private:
  const Observation& observation_;
  const Kernels& kernels_;
  std::size_t particles_;
  Frame frame_;
  AlignedBuffer memory_;
};
}  // namespace mckean
