// Maximisations of an exact likelihood as tasks.
#pragma once

#include "infer/maximise.hpp"
#include "paper/probe.hpp"

namespace mckean {

// Where to begin, and which parameters stay there.
struct ExactRequest {
  std::vector<double> start;
  std::vector<std::size_t> held = {};
  double tolerance = 1e-3;  // of the last step, in standard errors: the log-likelihood errs by half its square
  int most_iterations = 100;
};

// A maximum, or why there is none.
struct ExactMaximum {
  std::vector<double> theta;
  double loglik = 0;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd information;
  bool converged = false;  // also where the likelihood is flat along some direction, which `problem` then names
  std::vector<std::size_t> at_bound;  // parameters that lie there
  std::string problem;      // why it is not converged; with an empty θ why there is no likelihood at the start
  double work = 0;          // of all evaluations
  bool too_coarse = false;  // there is none since steps are too long at this level
  int level = 0;            // as in Maximum
  bool found() const { return !theta.empty(); }
};
constexpr auto record_of(const ExactMaximum*) {
  return record("exact maximum", &ExactMaximum::theta, &ExactMaximum::loglik, &ExactMaximum::gradient,
                &ExactMaximum::information, &ExactMaximum::converged, &ExactMaximum::at_bound, &ExactMaximum::problem,
                &ExactMaximum::work, &ExactMaximum::too_coarse, &ExactMaximum::level);
}

ExactMaximum described(const Result<Maximum>&);

// The likelihood at a point with its derivatives, or nothing.
struct ExactValue {
  double loglik = 0;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd information;
  double work = 0;
  std::vector<int> levels = {};  // that were extrapolated
  bool found() const { return gradient.size() > 0; }
};
constexpr auto record_of(const ExactValue*) {
  return record("exact value", &ExactValue::loglik, &ExactValue::gradient, &ExactValue::information, &ExactValue::work,
                &ExactValue::levels);
}

// How long the steps of a likelihood are.
struct ExactSteps {
  int level = 0;
  Scheme scheme = Scheme::euler;
  bool extrapolated = false;  // with finer levels to the diffusion
  ExactSteps finer() const { return {level == kContinuous ? level : level + 1, scheme, extrapolated}; }
  std::string text() const;  // for names of tasks and for progress
};

// Of log-likelihoods, that do no harm: of extrapolated ones, and of those of one coarse level, which only lead there.
struct ExactErrors {
  double extrapolated = 0, coarse = 0;  // 0: rounding alone
};

class ExactTasks {
 public:
  ExactTasks(Workbench& bench, const Engine& engine, ExactErrors errors)
      : bench_(bench), engine_(engine), errors_(errors) {}

  const Engine& engine() const { return engine_; }
  Request at(const ExactSteps&, std::stop_token stop = {}) const;
  MaximiseOptions options(const ExactSteps&, std::stop_token stop, const ExactRequest&) const;
  int finest(ExactSteps) const;  // level that is affordable
  // What one value cost on a level: elsewhere no more than so many times that, with the usual growth, is spent on one.
  // `most`: that one value may cost where there is a choice.
  void set_cost(int level, double work, double most) { cost_ = {level, work}, most_ = most; }
  double expected_cost(const ExactSteps&) const;
  bool affordable(const ExactSteps& steps) const { return expected_cost(steps) < most_; }
  ExactValue evaluate(const std::string& group, const ExactSteps&, const std::vector<double>& theta);
  void check_time();  // throws search::OutOfTime where the time granted is used up
  std::vector<ExactMaximum> maximise(const std::string& group, const ExactSteps&, std::span<const ExactRequest>);

 private:
  Workbench& bench_;
  const Engine& engine_;
  ExactErrors errors_;
  std::optional<std::pair<int, double>> cost_;
  double most_ = 0;
};
}  // namespace mckean
