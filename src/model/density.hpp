// The named densities of observations: how they are written, and their formulas.
#pragma once

#include "expr/parse.hpp"
#include "mckean/model.hpp"

namespace mckean {

struct DistributionInfo {
  std::string_view name;
  Distribution distribution;
  std::vector<std::string_view> arguments;
  enum Support { real, positive, count } support;
};

const std::vector<DistributionInfo>& distributions();
const DistributionInfo& info(Distribution);

// Whether a text is a call of something that is no function of the language, as normal(0, 1) is.
bool is_distribution(std::string_view text);

// normal(x, tau) and the like. Throws ParseError.
Density parse_density(std::string_view text, Graph&, const Scope&);

// log density of y; log G is an expression like any other, so its derivatives come from the graph.
Expr log_density(Distribution, Expr y, const std::vector<Expr>& arguments);

// Of a named distribution.
struct Moments {
  Expr mean, variance;
};
Moments moments_of(const ObservedColumn&);
}  // namespace mckean
