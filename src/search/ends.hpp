// Ends of intervals by the likelihood itself: how far from the top a profile log-likelihood has fallen by so much. The
// polynomial at the top has a guess, which stays where the likelihood agrees with it.
#pragma once

#include "search/rounds.hpp"

namespace mckean::search {

struct End {
  Eigen::Index parameter;
  int sign;      // 1: the upper one
  double fall;   // of the profile log-likelihood there
  double guess;  // its distance from the top, in z
  bool trusted;  // the guess comes from the curvature, not from the scale alone
};

// Distances in z, one for each end; none where the likelihood does not fall so much however far one goes, or does so
// only because Euler's steps are too long there. Throws Stopped and OutOfTime.
std::vector<std::optional<double>> find_ends(Evaluations&, const Box&, const Rounds&, std::span<const End>);
}  // namespace mckean::search
