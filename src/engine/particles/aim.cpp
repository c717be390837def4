#include "engine/particles/aim.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/symmetric.hpp"

namespace mckean {

using Eigen::MatrixXd, Eigen::VectorXd;

struct Aimer::Target {
  MatrixXd rows;
  VectorXd value;
  MatrixXd variance;
};

namespace {

constexpr double kLeastCurvature = 1e-12;  // relative to the largest

// The inverse of the lower factor of a positive matrix; false where it is not positive.
bool inverse_factor(MatrixXd v, MatrixXd& inverse) {
  const Eigen::Index n = v.rows();
  inverse = MatrixXd::Identity(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      v(i, j) -= v.row(i).head(j).dot(v.row(j).head(j));
      v(i, j) /= v(j, j);
    }
    const double pivot = v(i, i) - v.row(i).head(i).squaredNorm();
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    v(i, i) = std::sqrt(pivot);
    for (Eigen::Index j = 0; j < i; ++j) inverse.row(i) -= v(i, j) * inverse.row(j);
    inverse.row(i) /= v(i, i);
  }
  return true;
}
}  // namespace

Aimer::Aimer(const Model& model, std::shared_ptr<const Ahead> ahead, const Schedule& schedule,
             const AheadOptions& options, const Kernels& kernels)
    : ahead_(std::move(ahead)),
      schedule_(schedule),
      options_(options),
      observe_(ahead_->observe, kernels),
      one_(ahead_->dimension * (1 + ahead_->sources), 1),
      at_(model.dimension(), 1) {}

// The points of the mean's path, each with the directions of the noise that was added there: a lane for each step, all
// of them carried to the observation.
void Aimer::linearise(Forecaster& forecaster, std::size_t from, std::size_t to, std::span<const double> mean) {
  const std::size_t n = to - from, columns = forecaster.columns();
  if (lanes_.rows() < n) lanes_ = Columns(columns, n), seen_ = Columns(ahead_->observe.outputs(), n);
  for (std::size_t c = 0; c < at_.count(); ++c) at_[c][0] = mean[c];
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0)
      if (const Columns& there = forecaster.carry(from + i, from + i + 1, lanes_, i); &there != &lanes_)
        for (std::size_t c = 0; c < columns; ++c) std::copy_n(there[c], i, lanes_[c]);
    forecaster.depart(from + i, at_, 1, one_);
    for (std::size_t c = 0; c < columns; ++c) lanes_[c][i] = one_[c][0];
    for (std::size_t c = 0; c < at_.count(); ++c) at_[c][0] = one_[c][0];
  }
}

// Named densities as they are; of a bare log density, the parabola at the forecast, along those of its axes in which it
// is curved downwards.
Aimer::Target Aimer::target(std::span<const double> values, std::size_t lanes) const {
  const std::vector<SeenNumber>& seen = ahead_->seen;
  const std::size_t q = seen.size(), last = lanes - 1;
  std::vector<VectorXd> rows;
  std::vector<double> value, variance;
  std::size_t curvature = q * (2 + ahead_->sources);
  for (std::size_t i = 0; i < q;) {
    const double y = values[seen[i].column];
    if (seen[i].kind != SeenNumber::Kind::component) {
      const double v = seen_[q + i][last];
      if (!std::isnan(y) && v > 0 && std::isfinite(v)) {
        rows.push_back(VectorXd::Unit(static_cast<Eigen::Index>(q), static_cast<Eigen::Index>(i)));
        value.push_back(seen[i].kind == SeenNumber::Kind::logarithm ? std::log(y) : y);
        variance.push_back(v);
      }
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < q && seen[end].column == seen[i].column) ++end;
    const auto n = static_cast<Eigen::Index>(end - i);
    VectorXd slope(n), at(n);
    MatrixXd bend(n, n);
    for (Eigen::Index a = 0; a < n; ++a) {
      at[a] = seen_[i + static_cast<std::size_t>(a)][last];
      slope[a] = seen_[curvature++][last];
      for (Eigen::Index b = 0; b < n; ++b) bend(a, b) = seen_[curvature++][last];
    }
    if (!std::isnan(y) && bend.allFinite() && slope.allFinite()) {
      const Spectrum axes = spectrum(bend);
      const double least = kLeastCurvature * std::max(0.0, axes.values[n - 1]);
      for (Eigen::Index a = 0; a < n; ++a) {
        if (!(axes.values[a] > least)) continue;
        const VectorXd axis = axes.vectors.col(a);
        rows.push_back(VectorXd::Zero(static_cast<Eigen::Index>(q)));
        rows.back().segment(static_cast<Eigen::Index>(i), n) = axis;
        value.push_back(axis.dot(at) + axis.dot(slope) / axes.values[a]);
        variance.push_back(1 / axes.values[a]);
      }
    }
    i = end;
  }
  Target out{MatrixXd(rows.size(), q), VectorXd::Map(value.data(), static_cast<Eigen::Index>(value.size())),
             VectorXd::Map(variance.data(), static_cast<Eigen::Index>(variance.size())).asDiagonal()};
  for (std::size_t i = 0; i < rows.size(); ++i) out.rows.row(static_cast<Eigen::Index>(i)) = rows[i];
  out.variance /= options_.temper;
  return out;
}

Aim Aimer::aim(const Target& target, const Schedule::Visit& to) const {
  MatrixXd factor;
  if (target.rows.rows() == 0 || !inverse_factor(options_.widening * target.variance, factor)) return {};
  const auto q = static_cast<Eigen::Index>(ahead_->seen.size()), n = target.rows.rows();
  MatrixXd w = MatrixXd::Zero(q, q);
  VectorXd y = VectorXd::Zero(q);
  w.topRows(n) = factor * target.rows;
  y.head(n) = factor * target.value;
  if (!w.allFinite() || !y.allFinite()) return {};
  Aim out{to.point, {schedule_.grid.time[to.point]}, 0};
  for (Eigen::Index i = 0; i < q; ++i)
    for (Eigen::Index j = 0; j < q; ++j) out.uniforms.push_back(w(i, j));
  out.uniforms.insert(out.uniforms.end(), y.begin(), y.end());
  for (Eigen::Index i = 0; i < n; ++i) out.log_scale += std::log(factor(i, i)) - 0.5 * std::log(2 * std::numbers::pi);
  return out;
}

// V_j = R + Σ_{i > j} B_i B_iᵀ, from the last step to the first.
std::vector<Aim> Aimer::aims(Forecaster& forecaster, std::size_t series, std::size_t from, const Schedule::Visit& to,
                             std::span<const double> mean) {
  const std::size_t n = to.point - from, q = ahead_->seen.size(), r = ahead_->sources;
  std::vector<Aim> out(n + 1);
  linearise(forecaster, from, to.point, mean);
  const auto values = schedule_.values(series, to);
  std::vector<double> uniforms{schedule_.grid.time[to.point]};
  uniforms.insert(uniforms.end(), values.begin(), values.end());
  observe_.set_uniforms(uniforms);
  std::vector<const double*> in;
  std::vector<double*> to_columns;
  std::as_const(lanes_).append_to(in);
  seen_.append_to(to_columns);
  observe_.over(n, in, to_columns);

  Target target = this->target(values, n);
  for (std::size_t j = n; (out[j] = aim(target, to)) && j > 0; --j) {
    MatrixXd slopes(q, r);
    for (std::size_t s = 0; s < r; ++s)
      for (std::size_t i = 0; i < q; ++i)
        slopes(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(s)) = seen_[(2 + s) * q + i][j - 1];
    const MatrixXd b = target.rows * slopes;
    target.variance += b * b.transpose();
  }
  return out;
}
}  // namespace mckean
