// Ends of intervals by the likelihood itself: how far from the top a profile log-likelihood has fallen by so much. The
// polynomial at the top has a guess, which stays where the likelihood agrees with it.
#pragma once

#include "infer/search/rounds.hpp"

namespace mckean::search {

struct End {
  Eigen::Index parameter;
  int sign;               // 1: the upper one
  double fall;            // of the profile log-likelihood there
  double guess;           // its distance from the top, in z
  bool trusted;           // the guess comes from the polynomial, not from the scale alone
  Eigen::VectorXd ridge;  // how the other parameters are thought to move on the way there, per unit of distance
};

struct Ends {
  // In z, one for each end; none where the likelihood does not fall so much as far as one goes, or does so only
  // because Euler's steps are too long there.
  std::vector<std::optional<double>> distances;
  std::optional<Eigen::VectorXd> higher;  // a point that is higher than the top: then there are no distances
};

// The name is that of its tasks. Throws Stopped and OutOfTime.
Ends find_ends(Evaluations&, const Box&, const Rounds&, std::span<const End>, const std::string& name);
}  // namespace mckean::search
