// What is said when an observation is explained by one particle alone, or by none.
#pragma once

#include <span>
#include <string>

#include "law/cloud.hpp"
#include "smooth/weights.hpp"

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

// Nothing where several particles share the weight; a warning where one carries it all. Throws NumericalError where no
// particle explains the observation: weights that are NaN, all zero, or zero in double precision. `where` is called
// only when there is something to say.
template <class Where>
std::string judge(const Weighing&, Where&& where);

bool degenerate(const WeightSum&);
std::string describe(const Weighing&, const std::string& where);  // throws as above

template <class Where>
std::string judge(const Weighing& w, Where&& where) {
  return degenerate(w.weights) ? describe(w, where()) : std::string();
}
}  // namespace mckean
