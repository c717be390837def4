// The maximum of a likelihood that is known by noisy values alone: exploration, rounds near the top, a second start,
// and the same again on finer steps and with a larger law.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "infer/search/rounds.hpp"
#include "mckean/fit.hpp"

namespace mckean::search {

struct SearchOptions {
  Scheme scheme = Scheme::splitting;
  std::pair<int, int> levels = {4, 9};             // where it begins, and how far it may go
  std::size_t particles = 0;                       // M of the rounds; 0: chosen
  std::size_t law_particles = 0;                   // N; 0: chosen
  Engine::LawKind law = Engine::LawKind::moments;  // the engine's
  std::size_t starts = 2;
  std::optional<double> tolerance = {};
  double most_cost = 1.6e10;  // after which it goes no finer
};

struct Found {
  std::vector<double> theta, mc_se;
  std::vector<double> inside;  // θ, off its bounds by so little that it does not matter: where there is a likelihood
  std::vector<Interval> intervals;
  Eigen::MatrixXd covariance;  // of θ; 0 where not known
  double loglik = 0, loglik_error = 0;
  Effort effort;
  std::vector<LocalMaximum> maxima;  // of comparable likelihood, the best first
  bool converged = false, stopped = false;
  Findings findings;
  // The samples that the last polynomial goes through: θ, value, and what the polynomial has there.
  struct Shown {
    std::vector<double> theta;
    double value, fitted;
  };
  std::vector<Shown> samples;
};

// Also where it is stopped or out of time: then with what there is, and not converged. Throws NumericalError where no
// start has a likelihood, and Stopped where nothing is known yet.
Found search(Evaluations&, std::span<const Parameter>, const SearchOptions&);
}  // namespace mckean::search
