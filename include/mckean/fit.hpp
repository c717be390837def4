// The maximum-likelihood estimate of a model's parameters, from where the model starts them, with its errors.
#pragma once

#include <utility>

#include "mckean/smooth.hpp"

namespace mckean {

// stratified: the multilevel sum centred at a pilot's estimate, with fixed numbers of replicates in its cells. paper:
// the randomised multilevel estimator as printed. single: Procedure 1 at one level, replicated. quadrature:
// deterministic, for one-dimensional states.
enum class Estimator { stratified, paper, single, quadrature };

// γ_n = γ (n0 + n)^−ρ
struct StepRule {
  double gamma = 1, n0 = 0, rho = 0.7;
  double at(std::size_t n) const;
};

// What is left out is chosen by the pilot of `stratified`, and as in the paper for `paper` and `single`.
struct FitOptions {
  Estimator estimator = Estimator::stratified;
  std::optional<std::pair<int, int>> levels = {};  // l_min and L; single and quadrature use L
  std::string particles = {}, law_particles = {};  // M and N_l: numbers, or rules of l, L and T such as "l*L"
  std::optional<Smoother> smoother = {};
  bool finite_difference = false;  // the paper's derivative of the law, in place of its tangent
  std::optional<StepRule> step = {};
  std::optional<std::size_t> iterations = {};  // of a chain: T_0 of stratified, all of single
  std::optional<int> most_p = {};              // p_max of stratified and paper
  bool unbounded_p = false;                    // paper: no p_max
  // Of paper: P_L and P_P, up to factors, and T_p.
  std::string level_weight = "2^(-l/4)", length_weight = "2^-p*(p + 1)*log(p + 2)^2", chain_length = "2^p";
  std::size_t starts = 1;  // stratified: pilots from so many starts, the first of them the model's

  // How long: so many replicates, or until the Monte Carlo error of every parameter is below `tolerance`, or (neither)
  // below a tenth of its standard error. Paper and single take 200 replicates unless told.
  std::optional<std::size_t> replicates = {};
  std::optional<double> tolerance = {};
  // Of a fit that is being extended, the tolerance with which it began, 0 for none: what its pilot goes by.
  std::optional<double> first_tolerance = {};
  bool limited_time = false;  // the runner may say that the time is up; then it is asked more often

  std::uint64_t seed = 1;
  double unit = 0;              // unit of time that a level splits; 0: the median spacing of the observations
  bool full_precision = false;  // 64-bit normals
};

// Replicates of an estimator are numbered below this; chains for information matrices above.
inline constexpr std::uint32_t kMostReplicates = 1u << 23;

struct Interval {
  double std_error, lower, upper;  // 95 %, on the user's scale
};

// Replicates of one cell of the multilevel sum.
struct Cell {
  int level, p;
  std::size_t count = 0;
  std::vector<double> mean, sd;  // of the differences
  std::uint64_t particle_steps = 0;
};

struct FitResult {
  std::vector<double> value, mc_se;
  std::vector<std::optional<Interval>> intervals;  // none where the data do not determine a parameter
  std::vector<Cell> cells;                         // by level, then p
  std::size_t replicates = 0, reprojections = 0;
  int lowest = 0, highest = 0;
  std::size_t particles = 0, law_particles = 0, iterations = 0;  // at the highest level
  std::optional<LikelihoodSummary> loglik;                       // at the estimate
  std::uint64_t particle_steps = 0;
  std::vector<std::string> warnings;
};

// Throws InputError, NumericalError, and Stopped where the runner was asked to stop.
FitResult fit(const Model&, const Data&, const FitOptions&, TaskRunner&, FitObserver&);

// Throws InputError where a fit would, without the work.
void check_fit(const Model&, const Data&, const FitOptions&);
}  // namespace mckean
