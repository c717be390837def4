// Standard errors and 95 % intervals.
#pragma once

#include "infer/search/ends.hpp"
#include "infer/search/search.hpp"

namespace mckean::search {

// The ends that the intervals have, as the polynomial at the top guesses them. A parameter held by a bound has one,
// where twice the profile log-likelihood has fallen by 2.71. One that moves along a flat direction has none, unless it
// is the only one.
std::vector<End> guessed_ends(const Fit&, const Box&, std::span<const Eigen::VectorXd> flat);

// Within the bounds, from the distances of those ends; none where an end is not determined, and then there is no
// standard error.
std::vector<Interval> intervals(const Fit&, const Box&, std::span<const End>, std::span<const std::optional<double>>);

// What is said of a parameter that no bound holds and of which an end is missing.
Finding undetermined(const std::string& name, const Interval&);
// And of one that a bound holds, with the other end of its interval.
Finding found_at_bound(const std::string& name, double bound, bool lower, std::optional<double> end);
}  // namespace mckean::search
