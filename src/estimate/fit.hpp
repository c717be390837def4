// A fit from start to end: estimate, error bars, and what a reader must know about them.
#pragma once

#include "estimate/pilot.hpp"
#include "mckean/smooth.hpp"

namespace mckean {

enum class Estimator { stratified, paper, single, quadrature };

struct FitOptions {
  Estimator estimator = Estimator::stratified;
  EstimatorOptions replicated;  // of paper and single
  PilotOptions pilot;           // of stratified
  std::size_t starts = 1;       // stratified: pilots from so many starts, the first of them the model's
  int quadrature_level = 5;
  // How long: so many replicates, or until the Monte Carlo error of every parameter is below `tolerance`, or (neither)
  // below a tenth of its standard error. Paper and single take 200 replicates unless told.
  std::optional<std::size_t> replicates;
  std::optional<double> tolerance;
  bool limited_time = false;  // the runner may say that the time is up; then it is asked more often
  std::uint64_t seed = 1;
};

struct Interval {
  double std_error, lower, upper;  // 95 %, on the user's scale
};

struct FitResult {
  std::vector<double> value, mc_se;
  std::vector<std::optional<Interval>> intervals;  // none where the data do not determine a parameter
  std::vector<Cell> cells;
  std::size_t replicates = 0, reprojections = 0;
  int lowest = 0, highest = 0;
  std::size_t particles = 0, law_particles = 0, iterations = 0;  // at the highest level
  std::optional<LikelihoodSummary> loglik;                       // at the estimate
  std::uint64_t particle_steps = 0;
  std::vector<std::string> warnings;
};

// The inverse of the complete-data information at the chain's start, on the line: steps of its size cannot overshoot.
// Directions that it does not determine get the inverse of its diagonal, and a warning. Throws NumericalError.
Eigen::MatrixXd complete_data_scale(Workbench&, const ChainOptions&, int level, std::vector<std::string>& warnings);

// Sets the preconditioner of `paper` and `single` to that scale, unless it is given.
void precondition(Workbench&, EstimatorOptions&, std::vector<std::string>& warnings);

// 95 % intervals from the covariance of the parameters on the line, so that they respect bounds; none where not known.
std::vector<std::optional<Interval>> intervals(const Model&, const std::vector<double>& theta,
                                               const Eigen::MatrixXd& covariance, const std::vector<bool>& known);

// Throws InputError where there are fewer observed values than parameters.
void require_enough(const Model&, const Data&);

// Throws InputError as above, NumericalError, and Stopped where the runner was asked to stop.
FitResult fit(const Problem&, const FitOptions&, TaskRunner&, FitObserver&);
}  // namespace mckean
