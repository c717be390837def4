// ∇_θ log G_θ(x, y) as a program.
#pragma once

#include <vector>

#include "mckean/model.hpp"
#include "program/program.hpp"

namespace mckean {

struct ObservationScore {
  explicit ObservationScore(const Model&);

  struct Term {
    std::size_t column, parameter;
  };
  std::vector<Term> terms;         // derivatives that are not zero
  Program program;                 // columns: x, t, y | outputs: the terms
  std::size_t dimension, columns;  // of the state; observed ones
};
}  // namespace mckean
