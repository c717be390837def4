// Chains of a few replicates, computed once more: a replicate is a function of the seed and its number.
#pragma once

#include <string>
#include <vector>

#include "report/sections.hpp"

namespace mckean::report {

struct Trace {
  std::uint32_t index;  // of its cell, or of all replicates
  int p;
  std::vector<std::vector<double>> theta;  // from the start
  bool same = false;                       // ends exactly where the stored replicate did
};

struct Traces {
  int level = 0;  // the lowest, where a replicate is one chain
  std::vector<Trace> traces;
  std::string problem;  // why there are none
};

Traces recompute_chains(const Context&);
}  // namespace mckean::report
