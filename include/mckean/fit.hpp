// The maximum-likelihood estimate of a model's parameters, from where the model starts them, with its errors.
#pragma once

#include <utility>

#include "mckean/likelihood.hpp"
#include "mckean/session.hpp"
#include "mckean/smooth.hpp"

namespace mckean {

// search: by the likelihood itself, whichever engine has it. The others move along chains of smoothed paths:
// stratified, the multilevel sum centred at a pilot's estimate, with fixed numbers of replicates in its cells; paper,
// the randomised multilevel estimator as printed; single, Procedure 1 at one level, replicated.
enum class Estimator { search, stratified, paper, single };

// γ_n = γ (n0 + n)^−ρ
struct StepRule {
  double gamma = 1, n0 = 0, rho = 0.7;
  double at(std::size_t n) const;
};

// What is left out is chosen by `search` and by the pilot of `stratified`, and as in the paper for `paper` and
// `single`.
struct FitOptions {
  std::string engine =
      "auto";  // of search, by name: the first that serves at a bearable cost; the others have particles
  Estimator estimator = Estimator::search;
  // l_min and L; single and quadrature use L. A search begins at the lower one and goes on to the higher where that
  // moves the estimate.
  std::optional<std::pair<int, int>> levels = {};
  std::optional<Scheme> scheme = {};               // of a search's steps: splitting, and Euler's where levels are given
  std::string particles = {}, law_particles = {};  // M and N_l: numbers, or rules of l, L and T such as "l*L"
  std::optional<Smoother> smoother = {};
  bool finite_difference = false;  // the paper's derivative of the law, in place of its tangent
  std::optional<StepRule> step = {};
  std::optional<std::size_t> iterations = {};  // of a chain: T_0 of stratified, all of single
  std::optional<int> most_p = {};              // p_max of stratified and paper
  bool unbounded_p = false;                    // paper: no p_max
  // Of paper: P_L and P_P, up to factors, and T_p.
  std::string level_weight = "2^(-l/4)", length_weight = "2^-p*(p + 1)*log(p + 2)^2", chain_length = "2^p";
  // search: from so many starts, the first of them the model's (2 unless told, and more where they disagree);
  // stratified: so many pilots, 1 unless told
  std::optional<std::size_t> starts = {};

  // How long: so many replicates, or until the Monte Carlo error of every parameter is below `tolerance`, or (neither)
  // below a tenth of its standard error. Paper and single take 200 replicates unless told.
  std::optional<std::size_t> replicates = {};
  std::optional<double> tolerance = {};
  // Of a fit that is being extended, the tolerance with which it began, 0 for none: what its pilot goes by.
  std::optional<double> first_tolerance = {};
  bool limited_time = false;  // the runner may say that the time is up; then it is asked more often

  std::uint64_t seed = 1;
  bool full_precision = false;  // 64-bit normals
};

// Replicates of an estimator are numbered below this; chains for information matrices above.
inline constexpr std::uint32_t kMostReplicates = 1u << 23;

// What is known of a parameter beyond its value. What the data do not determine is left out: the standard error, or an
// end of the 95 % interval.
enum class AtBound { none, lower, upper };
struct Interval {
  std::optional<double> std_error = {}, lower = {}, upper = {};
  AtBound at_bound = AtBound::none;  // the maximum lies there, and the interval is one-sided
};

struct LocalMaximum {
  std::vector<double> theta;
  double loglik;
};

// Replicates of one cell of the multilevel sum.
struct Cell {
  int level, p;
  std::size_t count = 0;
  std::vector<double> mean, sd;  // of the differences
  std::uint64_t particle_steps = 0;
};

// All that a table says of a parameter. NaN: not known.
struct FitParameter {
  std::string name;
  double value, mc_se, std_error, lower, upper;
};

struct FitResult {
  std::string engine = "particles", estimator;  // estimator: "search" and so on, empty where the engine is exact
  bool exact = false;                           // the engine is
  bool converged = true;                        // false: not to be relied on
  bool stopped = false;                         // by the user, before the end
  std::vector<FitParameter> parameters;         // the next three by name
  std::vector<double> value, mc_se;             // mc_se is NaN where it is not known yet
  std::vector<Interval> intervals;
  std::vector<std::vector<double>> covariance;  // of the parameters; empty where it is not known
  std::vector<LocalMaximum> maxima;             // those of comparable likelihood, the best first
  std::vector<Cell> cells;                      // by level, then p
  std::size_t replicates = 0, reprojections = 0;
  std::size_t evaluations = 0;    // of the likelihood, by a search
  int lowest = 0, highest = 0;    // levels; in continuous time those that were extrapolated, kContinuous where none was
  Scheme scheme = Scheme::euler;  // of the steps
  bool ahead = false;             // particles looked ahead
  bool continuous = false;        // the answer is that of the diffusion
  std::size_t particles = 0, law_particles = 0, iterations = 0;  // at the highest level
  std::optional<LikelihoodSummary> loglik;                       // at the estimate
  std::uint64_t particle_steps = 0;
  Findings findings;
};

// Throws InputError, NumericalError, and Stopped where the runner was asked to stop and there is nothing to tell yet.
FitResult fit(const Problem&, const FitOptions&, TaskRunner&, FitObserver&);

// The same in one call. A folder of the session keeps what is computed: the same call goes on from there.
FitResult fit(const Problem&, const FitOptions& = {}, const SessionOptions& = {});

// Throws InputError where a fit would, without the work.
void check_fit(const Problem&, const FitOptions&);
}  // namespace mckean
