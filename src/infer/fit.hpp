// A fit from start to end: estimate, error bars, and what a reader must know about them.
#pragma once

#include "infer/search/search.hpp"
#include "mckean/fit.hpp"
#include "paper/pilot.hpp"

namespace mckean {

// What a fit does, once all options are understood.
struct FitPlan {
  std::string engine = "auto";
  Estimator estimator = Estimator::search;
  search::SearchOptions search;
  EstimatorOptions replicated;  // of paper and single
  PilotOptions pilot;           // of stratified
  std::size_t starts = 1;
  std::optional<int> quadrature_level;  // chosen unless given
  std::optional<std::size_t> replicates;
  std::optional<double> tolerance;
  bool limited_time = false;
  std::uint64_t seed = 1;
};

// Throws InputError.
FitPlan plan_fit(const Model&, const FitOptions&);

// The inverse of the complete-data information at the chain's start, in unconstrained coordinates: steps of its size
// cannot overshoot. Directions that it does not determine get the inverse of its diagonal, and a warning. Throws
// NumericalError.
Eigen::MatrixXd complete_data_scale(Workbench&, const ChainOptions&, int level, Findings&);

// Sets the preconditioner of `paper` and `single` to that scale, unless it is given.
void precondition(Workbench&, EstimatorOptions&, Findings&);

// 95 % intervals from the covariance of the parameters in unconstrained coordinates, so that they respect bounds; none
// where not known.
std::vector<Interval> intervals(const Model&, const std::vector<double>& theta, const Eigen::MatrixXd& covariance,
                                const std::vector<bool>& known);

// Throws InputError where there are fewer observed values than parameters.
void require_enough(const Model&, const Data&);

// The parameters of a result by name, from its values and intervals.
std::vector<FitParameter> named_parameters(const Model&, const FitResult&);

// The level at which the rank of expansions is found.
int rank_level(const FitPlan&);

// Throws InputError as above, NumericalError, and Stopped where the runner was asked to stop.
FitResult fit(const Problem&, const FitPlan&, TaskRunner&, FitObserver&);
}  // namespace mckean
