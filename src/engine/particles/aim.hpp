// What particles aim at between two observations: the second one, as a normal law of what is seen of the state, as wide
// as the noise that is still to come makes it. The dynamics are linear here, along the path of one point.
#pragma once

#include "engine/particles/forecaster.hpp"
#include "problem/schedule.hpp"

namespace mckean {

struct AheadOptions {
  double widening = 1;  // of the variance of what is aimed at: tails must not be lighter than those of the truth
  double temper = 1;    // of the observations
};

// For the particles behind one step: |W y − W h|² with h forecast from there, as the programs have it.
struct Aim {
  std::size_t end = 0;           // the observation's grid point; 0: there is nothing to aim at
  std::vector<double> uniforms;  // its time, W by rows, W y
  double log_scale = 0;          // log of the normal density where W y = W h
  explicit operator bool() const { return end > 0; }
};

class Aimer {
 public:
  Aimer(const Model&, std::shared_ptr<const Ahead>, const Schedule&, const AheadOptions&, const Kernels&);
  void set_parameters(std::span<const double> theta) { observe_.set_fixed(theta); }

  // From a grid point to a later row of a series: aims of particles at that point, then behind each step up to the row.
  // Steps without an aim come first.
  std::vector<Aim> aims(Forecaster&, std::size_t series, std::size_t from, const Schedule::Visit& to,
                        std::span<const double> mean);

 private:
  // The numbers seen that have a variance: rows that combine all of them, their targets and variances.
  struct Target;
  Target target(std::span<const double> values, std::size_t lanes) const;
  void linearise(Forecaster&, std::size_t from, std::size_t to, std::span<const double> mean);
  Aim aim(const Target&, const Schedule::Visit&) const;

  std::shared_ptr<const Ahead> ahead_;
  const Schedule& schedule_;
  AheadOptions options_;
  Frame observe_;
  Columns lanes_, one_, at_, seen_;
};
}  // namespace mckean
