// What a fit must know before it begins: where the maximum is, how sharp, and how finely to compute.
#pragma once

#include "mckean/finding.hpp"
#include "paper/ascent.hpp"
#include "paper/newton.hpp"
#include "paper/stratified.hpp"

namespace mckean {

// What the user has decided; the rest is the pilot's to choose.
struct PilotOptions {
  std::optional<std::pair<int, int>> levels;  // l_min and L
  std::optional<Rule> particles;              // M
  std::optional<Rule> law_particles;          // N_l
  std::optional<StepRule> step;
  std::optional<std::size_t> iterations;  // T_0
  int most_p = 0;
  std::optional<double> tolerance;  // of the Monte Carlo error that the main phase is first to have
  ChainOptions chain;               // smoother, derivative, precision, start
  std::vector<bool> free = {};      // empty: all parameters
};

struct Pilot {
  ScoreMaximum maximum;     // at level L, or extrapolated to it
  StratifiedPlan plan;      // all but its target
  std::vector<bool> fixed;  // parameters at a bound
  bool arrived = false;
  Findings findings;
};

// `group` names its tasks, so that several pilots of one run are told apart.
Pilot explore(Workbench&, const std::string& group, const PilotOptions&);

// By how much, in standard errors, each parameter would move were the computation infinitely fine in time (from the
// scores at level L and two levels below, whose difference is three times what is left beyond L) or in the law's
// particles (from N and N/4, likewise). Monte Carlo errors of both.
struct Bias {
  bool known = false;
  Eigen::VectorXd shift, error;  // in unconstrained coordinates
};
struct Biases {
  Bias discretisation, law;
};
// `here`: the score at the place itself, or nothing if it is zero there but for `u_error`.
Biases biases(Workbench&, const std::string& group, const Place&, const ScoreMaximum&, const std::optional<Probe>& here,
              const Eigen::MatrixXd& u_error, std::size_t iterations);
}  // namespace mckean
