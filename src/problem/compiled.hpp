// What is compiled from a problem: programs of its dynamics and observations.
#pragma once

#include "mckean/problem.hpp"
#include "problem/schedule.hpp"
#include "step/dynamics.hpp"
#include "step/observation.hpp"
#include "step/observation_score.hpp"

namespace mckean {

struct Problem::Compiled {
  Compiled(Model, Data, double unit);
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  Model model;
  Data data;
  double unit;
  System system;
  Observation observation;
  ObservationScore observation_score;
};
}  // namespace mckean
