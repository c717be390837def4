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
  bool too_coarse = false;  // there is none since Euler's steps are too long at this level
  bool found() const { return !theta.empty(); }
};
constexpr auto record_of(const ExactMaximum*) {
  return record("exact maximum", &ExactMaximum::theta, &ExactMaximum::loglik, &ExactMaximum::gradient,
                &ExactMaximum::information, &ExactMaximum::converged, &ExactMaximum::at_bound, &ExactMaximum::problem,
                &ExactMaximum::work, &ExactMaximum::too_coarse);
}

ExactMaximum described(const Result<Maximum>&);

// The likelihood at a point with its derivatives, or nothing.
struct ExactValue {
  double loglik = 0;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd information;
  double work = 0;
  bool found() const { return gradient.size() > 0; }
};
constexpr auto record_of(const ExactValue*) {
  return record("exact value", &ExactValue::loglik, &ExactValue::gradient, &ExactValue::information, &ExactValue::work);
}

class ExactTasks {
 public:
  ExactTasks(Workbench& bench, const Engine& engine) : bench_(bench), engine_(engine) {}

  const Engine& engine() const { return engine_; }
  Request at(int level, std::stop_token stop = {}) const;
  // What one value cost on a level: elsewhere no more than so many times that, with the usual growth, is spent on one.
  // `most`: that one value may cost where there is a choice.
  void set_cost(int level, double work, double most) { cost_ = {level, work}, most_ = most; }
  double expected_cost(int level) const;
  bool affordable(int level) const { return expected_cost(level) < most_; }
  // On several levels.
  std::vector<ExactValue> evaluate(const std::string& group, const std::vector<int>& levels,
                                   const std::vector<double>& theta);
  void check_time();  // throws search::OutOfTime where the time granted is used up
  std::vector<ExactMaximum> maximise(const std::string& group, int level, std::span<const ExactRequest>);
  ExactMaximum maximise(const std::string& group, int level, const ExactRequest& request) {
    return maximise(group, level, std::span(&request, 1))[0];
  }

 private:
  Workbench& bench_;
  const Engine& engine_;
  std::optional<std::pair<int, double>> cost_;
  double most_ = 0;
};
}  // namespace mckean
