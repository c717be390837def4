#include "infer/quadratic_model.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr int kMostExchanges = 100;

// 1/√|I_ii|.
VectorXd scales(const MatrixXd& information) {
  VectorXd out(information.rows());
  for (Index i = 0; i < out.size(); ++i) {
    const double h = std::abs(information(i, i));
    out(i) = h > 0 ? 1 / std::sqrt(h) : 1;
  }
  return out;
}

double floor_of(const VectorXd& values) { return values.size() ? kFlat * values.cwiseAbs().maxCoeff() : 0; }

enum class Side { free, lower, upper };

// The highest point of the parabola with some of its coordinates at a side of the box.
VectorXd highest(const VectorXd& g, const MatrixXd& a, const StepBox& box, const std::vector<Side>& sides) {
  VectorXd out = VectorXd::Zero(g.size());
  std::vector<Index> free;
  for (Index i = 0; i < g.size(); ++i) {
    const Side side = sides[static_cast<std::size_t>(i)];
    if (side == Side::free)
      free.push_back(i);
    else
      out(i) = side == Side::lower ? box.lower(i) : box.upper(i);
  }
  if (free.empty()) return out;
  const VectorXd slope = g - a * out;
  const VectorXd inner = a(free, free).ldlt().solve(slope(free));
  for (std::size_t k = 0; k < free.size(); ++k) out(free[k]) = inner(static_cast<Index>(k));
  return out;
}
}  // namespace

QuadraticModel::QuadraticModel(VectorXd gradient, const MatrixXd& information) : gradient_(std::move(gradient)) {
  const VectorXd scale = scales(information);
  const Spectrum s = spectrum(scale.asDiagonal() * information * scale.asDiagonal());
  const double floor = floor_of(s.values);
  VectorXd slope = s.vectors.transpose() * scale.cwiseProduct(gradient_), values = s.values.cwiseAbs();
  for (Index i = 0; i < slope.size(); ++i)
    if (values(i) <= floor) slope(i) = 0, values(i) = floor > 0 ? floor : 1;
  const VectorXd back = scale.cwiseInverse();
  gradient_ = back.cwiseProduct(s.vectors * slope);
  curvature_ = back.asDiagonal() * s.vectors * values.asDiagonal() * s.vectors.transpose() * back.asDiagonal();
}

VectorXd QuadraticModel::step(const StepBox& box) const {
  std::vector<Side> sides(static_cast<std::size_t>(gradient_.size()), Side::free);
  for (Index i = 0; i < gradient_.size(); ++i)
    if (box.lower(i) == box.upper(i)) sides[static_cast<std::size_t>(i)] = Side::lower;
  VectorXd out;
  for (int exchange = 0; exchange < kMostExchanges; ++exchange) {
    out = highest(gradient_, curvature_, box, sides);
    bool left = false;
    for (Index i = 0; i < out.size(); ++i) {
      Side& side = sides[static_cast<std::size_t>(i)];
      if (side != Side::free || (out(i) >= box.lower(i) && out(i) <= box.upper(i))) continue;
      side = out(i) < box.lower(i) ? Side::lower : Side::upper;
      left = true;
    }
    if (left) continue;
    // One that the slope draws back into the box is set free, the strongest first.
    const VectorXd slope = gradient_ - curvature_ * out;
    Index strongest = -1;
    double most = 0;
    for (Index i = 0; i < out.size(); ++i) {
      const Side side = sides[static_cast<std::size_t>(i)];
      if (side == Side::free || box.lower(i) == box.upper(i)) continue;
      const double inward = (side == Side::lower ? slope(i) : -slope(i)) / std::sqrt(curvature_(i, i));
      if (inward > most) strongest = i, most = inward;
    }
    if (strongest < 0 || most * most < 1e-20 * std::max(gain(out), 1e-300)) break;
    sides[static_cast<std::size_t>(strongest)] = Side::free;
  }
  return out.cwiseMax(box.lower).cwiseMin(box.upper);
}

double QuadraticModel::gain(const VectorXd& step) const {
  return gradient_.dot(step) - step.dot(curvature_ * step) / 2;
}

Curvature::Curvature(const MatrixXd& information, const std::vector<Index>& free)
    : free_(free), size_(information.rows()) {
  if (free_.empty()) return;
  const MatrixXd part = information(free_, free_);
  scale_ = scales(part);
  spectrum_ = spectrum(scale_.asDiagonal() * part * scale_.asDiagonal());
}

bool Curvature::concave() const { return free_.empty() || spectrum_.values.minCoeff() > floor_of(spectrum_.values); }

bool Curvature::singular() const { return !concave() && spectrum_.values.minCoeff() >= -floor_of(spectrum_.values); }

VectorXd Curvature::weakest() const {
  VectorXd out = VectorXd::Zero(size_);
  if (!free_.empty()) out(free_) = scale_.cwiseProduct(spectrum_.vectors.col(0));  // eigenvalues ascend
  return out;
}
}  // namespace mckean
