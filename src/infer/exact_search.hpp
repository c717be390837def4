// Where an exact likelihood has its maxima, by steps of one length: Newton's method from many starts.
#pragma once

#include "infer/exact_maximum.hpp"
#include "infer/fit.hpp"

namespace mckean {

struct ExactSearchOptions {
  ExactSteps steps = {};
  double evaluations = 100;  // with all derivatives that may be spent on looking around
  std::size_t starts = 2;    // at least, from which Newton's method begins
  std::uint64_t seed = 1;
};

// Maxima that differ, the best first. Newton's method begins at the model's start values, at the best of points spread
// about them, and where scans along each parameter through the best maximum so far promise as much, until nothing
// higher is found. Where there is no likelihood at any start, `problem` says why.
struct ExactSearchResult {
  std::vector<ExactMaximum> maxima;
  std::string problem;
  bool too_coarse = false;  // at the start values Euler's steps are too long on this level
};
ExactSearchResult exact_search(Workbench&, ExactTasks&, const ExactSearchOptions&);
}  // namespace mckean
