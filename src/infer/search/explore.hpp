// From afar to the neighbourhood of a maximum: a population search on cheap log-likelihoods.
#pragma once

#include <limits>

#include "infer/search/box.hpp"
#include "infer/search/evaluation.hpp"

namespace mckean::search {

struct Explored {
  bool found = false;
  std::string problem;  // why nothing was found
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;  // of the last generation: about where the likelihood is within its noise
  Effort effort;               // with the level that was needed
  double loglik = 0;           // at the mean
};

struct ExploreOptions {
  std::string name;            // of its tasks
  Eigen::VectorXd start;       // z
  double width = 0.6;          // of the first generation, in units of the start values
  Eigen::MatrixXd shape = {};  // its covariance over that width², unless equal in all directions
  Effort effort;
  int highest_level = 10;                                      // where coarser ones explode
  double most_cost = std::numeric_limits<double>::infinity();  // after which it ends where it is
  int most_generations = 60;
  std::vector<Explored> known = {};  // it ends where it comes to one of them
};

// A start that makes the data implausible has a noisy likelihood: observations are tempered until it is not, and come
// back to their full weight as the population gets nearer. Throws Stopped and OutOfTime.
Explored explore(Evaluations&, const Box&, const ExploreOptions&);
}  // namespace mckean::search
