// The score and the information at given parameter values, by chains that hold θ: what the pilot looks at.
#pragma once

#include "mckean/tasks.hpp"
#include "paper/chains.hpp"

namespace mckean {

// What all parts of a fit share.
struct Workbench {
  const ParticleProblem& problem;
  TaskRunner& runner;
  FitObserver& observer;
  std::uint64_t seed;
  std::uint64_t particle_steps = 0;  // of everything done so far
  std::shared_ptr<const Chains> chains = particle_chains(problem);

  const Model& model() const { return problem.model(); }
};

// The name of what is computed at these values: when a run is extended its estimate moves, and what was computed at the
// former one must not be taken for it.
std::string named_at(const std::string& group, std::span<const double> values);

// Where to look, and how finely.
struct Place {
  Eigen::VectorXd u;  // in unconstrained coordinates
  int level;
  ChainOptions chain;  // its start is set from u
};

struct ProbeEffort {
  std::size_t chains = 8, iterations = 30;
  bool curvature = false;
};

struct Probe {
  bool found = false;           // false: the dynamics explode there, or no particle explains the data
  std::string problem;          // why not
  Eigen::VectorXd score;        // E H, in unconstrained coordinates, as everything here
  Eigen::MatrixXd score_error;  // covariance of that mean, from the spread of the chains
  Eigen::MatrixXd complete;     // complete-data information
  Eigen::MatrixXd louis;        // observed information by Louis' identity, where curvature was asked for
  Eigen::MatrixXd law_noise;    // variance of H that comes from the law inside H alone; with the curvature
  Eigen::MatrixXd path_noise;   // the rest of the variance of H, that of the paths; with the curvature
  double renewal = 0;           // share of iterations that renewed a path where that happens least
  std::size_t iterations = 0;   // of all chains, without burn-in

  // Variance of the mean score per iteration: what a chain of n iterations has, times n.
  Eigen::MatrixXd noise() const { return score_error * static_cast<double>(iterations); }
};

// In particle-steps, of one place.
double expected_cost(const ParticleProblem&, const Place&, const ProbeEffort&);

// As many iterations as wanted, or fewer (down to 40 %) where each is so long, with many series or fine steps, that it
// also tells much.
std::size_t affordable(const ParticleProblem&, const Place&, std::size_t wanted);

// All places in one batch of tasks, named `group`, their number and where they are.
std::vector<Probe> probe(Workbench&, const std::string& group, std::span<const Place>, const ProbeEffort&);

// One from several at the same place.
Probe combine(const Probe&, const Probe&);
}  // namespace mckean
