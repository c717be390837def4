#include "search/top.hpp"

#include <algorithm>
#include <cmath>

#include "model/symmetric.hpp"

namespace mckean::search {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

namespace {

constexpr int kMostSteps = 200;
constexpr double kRest = 1e-9,
                 kFlattest = 1e-3;  // step in u that is none; curvature in u below which a step is held back

class Climb {
 public:
  Climb(const Polynomial& f, const Region& region, const Box& box, const TopOptions& options)
      : f_(f), region_(region), box_(box), options_(options), inverse_(region.inverse()) {
    scale_ = region.factor().rowwise().norm();
    u_ = options.from.size() > 0 ? options.from : VectorXd::Zero(region.widths.size());
    z_ = region.at(u_);
  }

  Top run() {
    for (int i = 0; i < kMostSteps && step(); ++i) {
    }
    Top out{u_, z_, f_.value(u_), {}, u_.norm() < 0.999 * options_.most};
    const VectorXd gradient = slope();
    for (Index i = 0; i < z_.size(); ++i) out.bound.push_back(at_bound(i, gradient));
    return out;
  }

 private:
  VectorXd slope() const { return inverse_.transpose() * f_.gradient(u_); }

  // Whether a bound holds the variable: it is there, and uphill is beyond.
  int at_bound(Index i, const VectorXd& gradient) const {
    const double near = 1e-5 * scale_[i];
    if (z_[i] - box_.lower[i] <= near + 2e-6 && gradient[i] < 0) return -1;
    if (box_.upper[i] - z_[i] <= near + 2e-6 && gradient[i] > 0) return 1;
    return 0;
  }

  bool step() {
    const VectorXd gradient = slope();
    std::vector<Index> free;
    for (Index i = 0; i < z_.size(); ++i)
      if (i != options_.held && at_bound(i, gradient) == 0) free.push_back(i);
    if (free.empty()) return false;
    VectorXd move = VectorXd::Zero(z_.size());
    move(free) = newton(gradient, free);
    const double length = (inverse_ * move).norm();
    move *= std::min(1.0, 1 / std::max(length, 1e-300));
    const double before = f_.value(u_);
    for (int halving = 0; halving < 30; ++halving, move *= 0.5) {
      VectorXd z = box_.inside(z_ + move);
      if (options_.held) z[*options_.held] = z_[*options_.held];
      const VectorXd u = region_.from(z);
      if (u.norm() > options_.most && u.norm() > u_.norm()) continue;
      if (!(f_.value(u) > before)) continue;
      const bool moved = (u - u_).norm() > kRest;
      u_ = u, z_ = z;
      return moved;
    }
    return false;
  }

  // Of the free variables, scaled by their widths: −|H|⁻¹ g with curvatures bounded away from 0.
  VectorXd newton(const VectorXd& gradient, const std::vector<Index>& free) const {
    const MatrixXd all = inverse_.transpose() * f_.hessian(u_) * inverse_;
    const VectorXd scale = scale_(free);
    const Spectrum s = spectrum(-(scale.asDiagonal() * MatrixXd(all(free, free)) * scale.asDiagonal()));
    VectorXd along = s.vectors.transpose() * scale.cwiseProduct(gradient(free));
    for (Index i = 0; i < along.size(); ++i) along[i] /= std::max(std::abs(s.values[i]), kFlattest);
    return scale.cwiseProduct(s.vectors * along);
  }

  const Polynomial& f_;
  const Region& region_;
  const Box& box_;
  const TopOptions& options_;
  MatrixXd inverse_;
  VectorXd scale_, u_, z_;
};
}  // namespace

Top top_of(const Polynomial& f, const Region& region, const Box& box, const TopOptions& options) {
  return Climb(f, region, box, options).run();
}

std::optional<MatrixXd> covariance_at(const Polynomial& f, const Region& region, const Top& top) {
  std::vector<Index> free;
  for (Index i = 0; i < top.z.size(); ++i)
    if (top.bound[static_cast<std::size_t>(i)] == 0) free.push_back(i);
  MatrixXd out = MatrixXd::Zero(top.z.size(), top.z.size());
  if (free.empty()) return out;
  const MatrixXd inverse = region.inverse();
  const MatrixXd information = -(inverse.transpose() * f.hessian(top.u) * inverse);
  if (region.widths.size() < top.z.size()) {
    if (spectrum(-f.hessian(top.u)).values.minCoeff() <= 0) return {};
    out(free, free) = pseudo_inverse(information(free, free), 1e-10);
    return out;
  }
  const auto part = inverse_if_positive(information(free, free), 1e-12);
  if (!part) return {};
  out(free, free) = *part;
  return out;
}

MatrixXd error_of(const Polynomial& f, const Region& region, const Top& top, const MatrixXd& covariance) {
  const MatrixXd inverse = region.inverse();
  return covariance * inverse.transpose() * f.gradient_error(top.u) * inverse * covariance;
}
}  // namespace mckean::search
