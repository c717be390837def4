// log G_θ(x, y) as a program.
#pragma once

#include "mckean/model.hpp"
#include "program/program.hpp"

namespace mckean {

struct Observation {
  explicit Observation(const Model&);

  // columns: x | uniforms: t, all observed values | outputs: one log density for each observed column
  Program program;
  std::size_t dimension;  // of the state
};
}  // namespace mckean
