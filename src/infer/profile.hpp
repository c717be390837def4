// The profile log-likelihood of one parameter: at each of its values, the maximum over all others.
//
// With I the information in unconstrained coordinates, p the parameter and ω the others, the conditional maximum moves
// along t = (1, −I_ωω⁻¹ I_ωp), and by the envelope theorem the profile has the slope tᵀ E H, which to first order does
// not feel that ω is not quite at its conditional maximum. So scores at a few values, integrated, give the profile
// relative to the maximum, in any dimension and with a known error. Exact engines give it exactly.
#pragma once

#include "mckean/smooth.hpp"
#include "paper/pilot.hpp"

namespace mckean {

inline constexpr double kFallOfInterval = 1.920729410347062;  // half the 95 % quantile of chi-square

struct ProfileOptions {
  std::string engine = "particles";  // by scores; an exact one by values
  std::size_t parameter = 0;
  std::size_t points = 9;  // at least 2, evenly spaced in unconstrained coordinates
  std::optional<std::pair<double, double>> range =
      {};                         // otherwise the estimate ± 3 standard errors in unconstrained coordinates
  PilotOptions pilot = {};        // of scores
  std::optional<int> level = {};  // of Euler's steps, for an exact engine; otherwise the diffusion itself
  std::uint64_t seed = 1;
};

struct ProfilePoint {
  std::vector<double> theta;  // the value, and the others at their conditional maximum
  double relative = 0;        // log-likelihood minus its maximum
  double error = 0;           // Monte Carlo error of that
};

struct Profile {
  std::vector<double> estimate;
  std::optional<double> std_error;          // of the parameter; none where the data do not determine it
  std::optional<LikelihoodSummary> loglik;  // at the estimate
  std::vector<ProfilePoint> points;
  // Where the profile has fallen by 1.92, the 95 % interval of the likelihood ratio; none where the grid ends before.
  std::optional<double> lower, upper;
  std::optional<int> level;  // of Euler's steps; none in continuous time
  std::vector<int> levels;   // that were extrapolated to it
  std::uint64_t particle_steps = 0;
  Findings findings;
};

// Throws InputError for a range outside the bounds, NumericalError, and Stopped.
Profile profile(const ParticleProblem&, const ProfileOptions&, TaskRunner&, FitObserver&);
Profile profile(Workbench&, const ProfileOptions&);  // whose seed is the bench's

// ±√(−2 relative): nearly linear in the parameter, so that it is what to interpolate.
double signed_root(double relative, bool above);

// Weights of the values at `nodes` (ascending, at least 2) in the integral of their piecewise cubic interpolation.
Eigen::VectorXd integral_weights(const Eigen::VectorXd& nodes, double from, double to);
}  // namespace mckean
