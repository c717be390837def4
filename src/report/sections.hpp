// The parts of a report, one function each: HTML without a heading. Where something cannot be computed they say why.
#pragma once

#include <cstddef>
#include <string>

#include "engine/particles/particle_problem.hpp"
#include "report/facts.hpp"

namespace mckean::report {

constexpr std::size_t kMostParameters = 4;  // with charts of their own; of more, evenly spread

struct Context {
  const Input& input;
  const Facts& facts;
  const ParticleProblem& problem;
};

std::string estimate_section(const Context&);
std::string model_section(const Model&);
std::string data_section(const Context&);
std::string likelihood_section(const Context&);
std::string law_section(const Context&);
std::string search_section(const Context&);  // of a search alone
// Of estimators along chains alone.
std::string convergence_section(const Context&);
std::string cells_section(const Context&);
std::string traces_section(const Context&);

std::string diagnostics_section(const Context&);
std::string again_section(const Context&);
}  // namespace mckean::report
