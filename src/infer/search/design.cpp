#include "infer/search/design.hpp"

#include <algorithm>
#include <cmath>

namespace mckean::search {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

namespace {

constexpr int kCandidates = 8;
constexpr double kFarthest = 2.95;   // widths from the centre; less in few dimensions
constexpr double kCurvature = 0.25;  // what is learnt of the curvature, against the slope
}  // namespace

Design::Design(std::span<const Sample> known, const Region& region, int degree)
    : variables_(region.widths.size()), degree_(degree), covariance_(Polynomial::uncertainty(known, region, degree)) {}

VectorXd Design::next(NormalDraws& draws, double width) {
  const auto quadratic = static_cast<Index>(Polynomial::terms(variables_, 2));
  const double farthest = std::min(kFarthest, std::sqrt(static_cast<double>(variables_ + 3)));
  double most = -1;
  VectorXd best;
  MatrixXd learnt;
  for (int candidate = 0; candidate < kCandidates; ++candidate) {
    VectorXd u = draws.next(variables_);
    u *= width * std::min(1.0, farthest / u.norm());
    const VectorXd row = Polynomial::row(u, degree_), opposite = Polynomial::row(-u, degree_);
    MatrixXd fall = MatrixXd::Zero(row.size(), row.size());
    MatrixXd rest = covariance_;
    for (const VectorXd& r : {row, opposite}) {
      const VectorXd along = rest * r;
      const MatrixXd step = along * along.transpose() / (1 + r.dot(along));
      rest -= step;
      fall += step;
    }
    const double gain = fall.diagonal().segment(1, variables_).sum() +
                        kCurvature * fall.diagonal().segment(1 + variables_, quadratic - 1 - variables_).sum();
    if (gain > most) most = gain, best = u, learnt = fall;
  }
  covariance_ -= learnt;
  return best;
}
}  // namespace mckean::search
