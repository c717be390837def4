// Symmetric matrices: eigenvalues and inverses. Eigen's decompositions are compiled here alone, since that takes long.
#pragma once

#include <Eigen/Core>
#include <optional>

namespace mckean {

struct Spectrum {
  Eigen::VectorXd values;  // ascending
  Eigen::MatrixXd vectors;
};
Spectrum spectrum(const Eigen::MatrixXd&);

// Inverses, by the eigenvalues of the matrix scaled to a diagonal of 1. Where one of them is below `least`, the first
// leaves its direction out; the second, also where a value is not finite, has no answer.
Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd&, double least = 1e-9);
std::optional<Eigen::MatrixXd> inverse_if_positive(const Eigen::MatrixXd&, double least = 1e-8);
}  // namespace mckean
