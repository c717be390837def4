// What is said when an observation is explained by one particle alone, or by none.
#pragma once

#include <span>
#include <string>

#include "engine/particles/weights.hpp"
#include "law/cloud.hpp"

namespace mckean {

struct Weighing {
  const Model& model;
  std::span<const double> theta;
  const Columns& x;
  std::size_t particles;
  std::span<const double> values;  // observed; NaN: missing
  std::size_t best;                // the particle with the largest weight
  WeightSum weights;
};

// One particle carries all the weight (or none does).
bool degenerate(const WeightSum&);

// No particle explains the observation: weights that are NaN, all zero, or zero in double precision.
bool impossible(const Weighing&);

// What there is to say of degenerate weights. Throws NumericalError where the observation is impossible.
std::string describe(const Weighing&, const std::string& where);
}  // namespace mckean
