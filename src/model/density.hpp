// The named observation densities.
#pragma once

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

// log density of y; log G is an expression like any other, so its derivatives come from the graph.
Expr log_density(Distribution, Expr y, const std::vector<Expr>& arguments);
}  // namespace mckean
