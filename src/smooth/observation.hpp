// log G_θ(x, y) for many particles at once.
#pragma once

#include <span>
#include <vector>

#include "law/cloud.hpp"
#include "mckean/data.hpp"

namespace mckean {

// Refuses values that a density cannot have produced: a count that is no whole number, a lognormal value <= 0.
void check_support(const Model&, const Data&);

class Observation {
 public:
  explicit Observation(const Model&);

 private:
  friend class ObservationFrame;
  const Model& model_;
  Program
      program_;  // columns: x | uniforms: t, all observed values | outputs: one log density for each observed column
};

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
