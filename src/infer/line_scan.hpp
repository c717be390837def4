// An exact likelihood along one parameter: where else may a maximum be?
#pragma once

#include <limits>

#include "infer/exact_maximum.hpp"

namespace mckean {

// A place where Newton's method may begin, and the log-likelihood there.
struct Candidate {
  std::vector<double> theta;
  double loglik = 0;
};
struct Candidates {
  std::vector<Candidate> best;  // the best first
  double work = 0;
};
constexpr auto record_of(const Candidate*) { return record("candidate", &Candidate::theta, &Candidate::loglik); }
constexpr auto record_of(const Candidates*) { return record("candidates", &Candidates::best, &Candidates::work); }
void sort_best_first(std::vector<Candidate>&);

// The bound, or 0, from which the size of a parameter is measured; its size at a value or at its start, never 0.
double origin(const Parameter&);
double extent(const Parameter&, double value);

struct LineScan {
  std::vector<double> through;  // θ
  std::size_t parameter = 0;    // which moves
  std::size_t first = 8;        // points
  std::size_t most = 16;        // with those between neighbours that do not predict what lies between them
  std::size_t kept = 6;         // candidates
  // Of the highest maximum that is known: its log-likelihood, which another has to reach, and −∂² along the parameter.
  double reached = -std::numeric_limits<double>::infinity(), bend = 0;
};

// At each point the parabola there tells where the other parameters go, which is exact where they enter linearly; the
// candidates are those places.
Candidates scan_line(const Engine&, const Request&, const LineScan&);
}  // namespace mckean
