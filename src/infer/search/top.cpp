#include "infer/search/top.hpp"

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
  const MatrixXd factor = region.factor();
  std::vector<Index> held;
  for (Index i = 0; i < top.z.size(); ++i)
    if (top.bound[static_cast<std::size_t>(i)] != 0) held.push_back(i);
  // z = factor·u moves only along those u that leave the variables at their bounds where they are.
  const MatrixXd rows = factor(held, Eigen::all);
  const Index free = factor.cols() - static_cast<Index>(held.size());
  if (free <= 0) return MatrixXd::Zero(top.z.size(), top.z.size());
  const MatrixXd along = spectrum(rows.transpose() * rows).vectors.leftCols(free);
  const auto part = inverse_if_positive(-(along.transpose() * f.hessian(top.u) * along), 1e-12);
  if (!part) return {};
  MatrixXd out = factor * along * *part * along.transpose() * factor.transpose();
  for (const Index i : held) out.row(i).setZero(), out.col(i).setZero();
  return out;
}

MatrixXd error_of(const Polynomial& f, const Region& region, const Top& top, const MatrixXd& covariance) {
  const MatrixXd inverse = region.inverse();
  return covariance * inverse.transpose() * f.gradient_error(top.u) * inverse * covariance;
}
}  // namespace mckean::search
