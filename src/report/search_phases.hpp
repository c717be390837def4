// The course of a search in words: which phase an evaluation of the likelihood belongs to, and what each phase found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/facts.hpp"

namespace mckean::report {

struct Phase {
  // climb: a population goes uphill. check: the likelihood at one point. near_top: samples around the best point.
  enum class Kind { climb, check, near_top };
  std::string name;  // "start 1", "samples"
  Kind kind = Kind::climb;
  std::size_t evaluations = 0, tempered = 0, failed = 0;
  Effort least, most;          // of its evaluations
  std::optional<double> best;  // log-likelihood, of those that were not tempered
};

struct Phases {
  std::vector<Phase> phases;    // in the order in which they began
  std::vector<std::size_t> of;  // for each evaluation
};
Phases phases(const std::vector<Evaluation>&);

// Tempered ones have a likelihood of their own, on another scale.
std::optional<double> plain_loglik(const search::Record&);
}  // namespace mckean::report
