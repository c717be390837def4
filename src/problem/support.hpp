// Whether the model can have produced the data at all.
#pragma once

#include "mckean/data.hpp"
#include "mckean/model.hpp"

namespace mckean {

// Refuses values that a density cannot have produced: a count that is no whole number, a lognormal value <= 0. Throws
// InputError.
void check_support(const Model&, const Data&);
}  // namespace mckean
