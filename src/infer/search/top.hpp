// The maximum of a polynomial within bounds.
#pragma once

#include <optional>
#include <vector>

#include "infer/search/polynomial.hpp"

namespace mckean::search {

struct Top {
  Eigen::VectorXd u, z;
  double value = 0;
  std::vector<int> bound;  // of each variable of z: −1 held by its lower bound, 1 by its upper one, 0 free
  bool interior = true;    // it is not the distance that ends the climb
};

struct TopOptions {
  double most = 3;                        // distance in u from the centre
  std::optional<Eigen::Index> held = {};  // a variable of z that keeps its value
  Eigen::VectorXd from = {};              // u, the centre unless given
};

// By Newton's method with an active set, uphill also where the polynomial is not concave.
Top top_of(const Polynomial&, const Region&, const Box&, const TopOptions& = {});

// Covariance of z, the inverse of minus the second derivatives at the top, in the variables that no bound holds; none
// where they are not negative definite there.
std::optional<Eigen::MatrixXd> covariance_at(const Polynomial&, const Region&, const Top&);
// Covariance of the top's position z that comes from the noise of the values.
Eigen::MatrixXd error_of(const Polynomial&, const Region&, const Top&, const Eigen::MatrixXd& covariance);
}  // namespace mckean::search
