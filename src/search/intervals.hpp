// Standard errors and 95 % intervals from the polynomial at the top.
#pragma once

#include "search/search.hpp"

namespace mckean::search {

// Within the bounds. A parameter held by a bound has a one-sided interval, where twice the profile log-likelihood falls
// by 2.71; one that moves along a flat direction has neither standard error nor ends.
std::vector<Interval> intervals(const Fit&, const Box&, std::span<const Eigen::VectorXd> flat);
}  // namespace mckean::search
