// Where a component starts.
#pragma once

#include "expr/parse.hpp"
#include "mckean/model.hpp"

namespace mckean {

struct Start {
  double mean, sd;
};

// An expression of constants, or normal(mean, sd) of such. Throws ParseError.
Start parse_start(const std::string& text, const ModelSpec&, const Scope&);
}  // namespace mckean
