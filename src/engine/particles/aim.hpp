// What particles aim at between two observations: the second one, as a normal law of what is seen of the state, as wide
// as the noise that is still to come makes it. The dynamics are taken as linear along the paths of a few points, over
// which is averaged.
#pragma once

#include <Eigen/Core>

#include "engine/particles/forecaster.hpp"
#include "engine/particles/proposal.hpp"
#include "problem/schedule.hpp"

namespace mckean {

// For the particles behind one step: |W y − W h|² with h forecast from there, as the programs have it.
struct Aim {
  std::size_t end = 0;           // the observation's grid point; 0: there is nothing to aim at
  std::vector<double> uniforms;  // its time, W by rows, W y
  double log_scale = 0;          // log of the normal density where W y = W h
  explicit operator bool() const { return end > 0; }
};

class Aimer {
 public:
  Aimer(std::shared_ptr<const Ahead>, const Schedule&, const AheadOptions&, const Kernels&);
  void set_parameters(std::span<const double> theta) { observe_.set_fixed(theta); }

  // From a grid point to a later row of a series: aims of particles at that point, then behind each step up to the row.
  // Steps without an aim come first.
  std::vector<Aim> aims(Forecaster&, std::size_t series, std::size_t from, const Schedule::Visit& to,
                        const Columns& points);
  static constexpr std::size_t kPoints = 8;  // their number: as many as the narrowest vector block has lanes

 private:
  // The numbers seen that have a variance: rows that combine all of them, their targets and variances.
  struct Target;
  Target target(std::span<const double> values, std::size_t steps) const;
  void add_named(std::size_t number, double y, std::size_t steps, Target&) const;
  void add_bare(std::size_t first, std::size_t end, std::size_t& output, std::size_t steps, Target&) const;
  void choose_normals(std::size_t from, std::size_t to);
  double normal(std::size_t point, std::size_t source, std::size_t step) const;
  void observe(const Schedule::Visit&, std::span<const double> values, std::size_t steps);
  void linearise(Forecaster&, std::size_t from, std::size_t to, const Columns& points);
  double average(std::size_t output, std::size_t step) const;  // over the points
  Aim aim(const Eigen::MatrixXd& rows, const Eigen::VectorXd& value, const Eigen::MatrixXd& variance,
          const Schedule::Visit&) const;

  std::shared_ptr<const Ahead> ahead_;
  const Schedule& schedule_;
  AheadOptions options_;
  Frame observe_;
  std::vector<double> normals_;  // by step
  Columns lanes_, seen_, departed_[2];
};
}  // namespace mckean
