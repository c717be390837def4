#include "engine/particles/aim.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "model/symmetric.hpp"

namespace mckean {

using Eigen::MatrixXd, Eigen::VectorXd;

struct Aimer::Target {
  std::vector<VectorXd> rows;
  std::vector<double> value, variance;
};

namespace {

constexpr double kLeastCurvature = 1e-12;  // relative to the largest

double finite_or_zero(double v) { return std::isfinite(v) ? v : 0; }

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

Aimer::Aimer(std::shared_ptr<const Ahead> ahead, const Schedule& schedule, const AheadOptions& options,
             const Kernels& kernels)
    : ahead_(std::move(ahead)),
      schedule_(schedule),
      options_(options),
      observe_(ahead_->observe, kernels),
      departed_{Columns(ahead_->dimension * (1 + ahead_->sources), kPoints),
                Columns(ahead_->dimension * (1 + ahead_->sources), kPoints)} {}

// The normals of a point's path, all of one size at a step: half of the points go one way and half the other, source by
// source, so that in every share of the interval that is left they are as far from where they would be without noise as
// a normal variate whose fourth power has its mean.
void Aimer::choose_normals(std::size_t from, std::size_t to) {
  const double size = std::pow(3.0, 0.25);
  double left = 0;
  normals_.resize(to - from);
  for (std::size_t k = to; k-- > from;) {
    const double variance = schedule_.grid.step[k].variance;
    normals_[k - from] = size * (std::sqrt(left + variance) - std::sqrt(left)) / std::sqrt(variance);
    left += variance;
  }
}

double Aimer::normal(std::size_t point, std::size_t source, std::size_t step) const {
  const std::size_t row = 1 + source % (kPoints - 1);
  return std::popcount(point & row) % 2 ? -normals_[step] : normals_[step];
}

// Paths of the points: kPoints lanes for each step, where it leads without its noise and with the directions of that
// noise, all of them carried to the observation; then kPoints for where the paths end.
void Aimer::linearise(Forecaster& forecaster, std::size_t from, std::size_t to, const Columns& points) {
  const std::size_t n = to - from, d = ahead_->dimension, columns = forecaster.columns(), rows = (n + 1) * kPoints;
  if (lanes_.rows() < rows) lanes_ = Columns(columns, rows), seen_ = Columns(ahead_->observe.outputs(), rows);
  choose_normals(from, to);
  const Columns* at = &points;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t before = i * kPoints;
    if (i > 0)
      if (const Columns& there = forecaster.carry(from + i, from + i + 1, lanes_, before); &there != &lanes_)
        for (std::size_t c = 0; c < columns; ++c) std::copy_n(there[c], before, lanes_[c]);
    Columns& next = departed_[i % 2];
    forecaster.depart(from + i, *at, kPoints, next);
    for (std::size_t c = 0; c < columns; ++c) std::copy_n(next[c], kPoints, lanes_[c] + before);
    for (std::size_t p = 0; p < kPoints; ++p)
      for (std::size_t s = 0; s < ahead_->sources; ++s)
        for (std::size_t c = 0; c < d; ++c) next[c][p] += next[d + s * d + c][p] * normal(p, s, i);
    at = &next;
  }
  for (std::size_t c = 0; c < columns; ++c) std::copy_n((*at)[c], kPoints, lanes_[c] + n * kPoints);
}

// Over the points that have a forecast; NaN where none has.
double Aimer::average(std::size_t output, std::size_t step) const {
  double sum = 0, count = 0;
  for (std::size_t p = 0; p < kPoints; ++p)
    if (const double v = seen_[output][step * kPoints + p]; std::isfinite(v)) sum += v, ++count;
  return sum / count;
}

void Aimer::add_named(std::size_t number, double y, std::size_t steps, Target& to) const {
  const std::size_t q = ahead_->seen.size();
  const double variance = average(q + number, steps);
  if (!(variance > 0) || !std::isfinite(variance)) return;
  to.rows.push_back(VectorXd::Unit(static_cast<Eigen::Index>(q), static_cast<Eigen::Index>(number)));
  to.value.push_back(ahead_->seen[number].kind == SeenNumber::Kind::logarithm ? std::log(y) : y);
  to.variance.push_back(variance);
}

// The parabola at the forecast, along those of its axes in which it is curved downwards.
void Aimer::add_bare(std::size_t first, std::size_t end, std::size_t& output, std::size_t steps, Target& to) const {
  const auto n = static_cast<Eigen::Index>(end - first);
  VectorXd slope(n), at(n);
  MatrixXd bend(n, n);
  for (Eigen::Index a = 0; a < n; ++a) {
    at[a] = average(first + static_cast<std::size_t>(a), steps);
    slope[a] = average(output++, steps);
    for (Eigen::Index b = 0; b < n; ++b) bend(a, b) = average(output++, steps);
  }
  if (!bend.allFinite() || !slope.allFinite()) return;  // as where it is missing
  const Spectrum axes = spectrum(bend);
  const double least = kLeastCurvature * std::max(0.0, axes.values[n - 1]);
  for (Eigen::Index a = 0; a < n; ++a) {
    if (!(axes.values[a] > least)) continue;
    const VectorXd axis = axes.vectors.col(a);
    to.rows.push_back(VectorXd::Zero(static_cast<Eigen::Index>(ahead_->seen.size())));
    to.rows.back().segment(static_cast<Eigen::Index>(first), n) = axis;
    to.value.push_back(axis.dot(at) + axis.dot(slope) / axes.values[a]);
    to.variance.push_back(1 / axes.values[a]);
  }
}

Aimer::Target Aimer::target(std::span<const double> values, std::size_t steps) const {
  const std::vector<SeenNumber>& seen = ahead_->seen;
  Target out;
  std::size_t output = seen.size() * (2 + ahead_->sources);
  for (std::size_t i = 0, end = 0; i < seen.size(); i = end) {
    const double y = values[seen[i].column];
    for (end = i + 1; end < seen.size() && seen[end].column == seen[i].column;) ++end;
    if (seen[i].kind == SeenNumber::Kind::component)
      add_bare(i, end, output, steps, out);
    else if (!std::isnan(y))
      add_named(i, y, steps, out);
  }
  return out;
}

Aim Aimer::aim(const MatrixXd& rows, const VectorXd& value, const MatrixXd& variance, const Schedule::Visit& to) const {
  MatrixXd factor;
  if (rows.rows() == 0 || !inverse_factor(options_.widening * variance, factor)) return {};
  const auto q = rows.cols(), n = rows.rows();
  MatrixXd w = MatrixXd::Zero(q, q);
  VectorXd y = VectorXd::Zero(q);
  w.topRows(n) = factor * rows;
  y.head(n) = factor * value;
  if (!w.allFinite() || !y.allFinite()) return {};
  Aim out{to.point, {schedule_.grid.time[to.point]}, 0};
  for (Eigen::Index i = 0; i < q; ++i)
    for (Eigen::Index j = 0; j < q; ++j) out.uniforms.push_back(w(i, j));
  out.uniforms.insert(out.uniforms.end(), y.begin(), y.end());
  for (Eigen::Index i = 0; i < n; ++i) out.log_scale += std::log(factor(i, i)) - 0.5 * std::log(2 * std::numbers::pi);
  return out;
}

// W by V_j = R + Σ_{i > j} B_i B_iᵀ + C_j, from the last step to the first. C_j is the mean square of what the linear
// forecast of the paths' ends leaves out: where h or the flow are curved, the second is not enough.
std::vector<Aim> Aimer::aims(Forecaster& forecaster, std::size_t series, std::size_t from, const Schedule::Visit& to,
                             const Columns& points) {
  const std::size_t n = to.point - from, q = ahead_->seen.size(), r = ahead_->sources;
  linearise(forecaster, from, to.point, points);
  const auto values = schedule_.values(series, to);
  observe(to, values, n);
  const Target target = this->target(values, n);
  const auto count = static_cast<Eigen::Index>(target.rows.size());
  MatrixXd rows(count, q), variance = MatrixXd::Zero(count, count), left(q, kPoints);
  for (Eigen::Index i = 0; i < count; ++i) {
    rows.row(i) = target.rows[static_cast<std::size_t>(i)];
    variance(i, i) = target.variance[static_cast<std::size_t>(i)] / options_.temper;
  }
  const VectorXd value = VectorXd::Map(target.value.data(), count);
  const auto square = [&](const MatrixXd& m) -> MatrixXd {
    const MatrixXd seen = rows * m;
    return seen * seen.transpose() / static_cast<double>(kPoints);
  };
  std::vector<Aim> out(n + 1);
  left.setZero();
  MatrixXd linear = MatrixXd::Zero(left.rows(), left.cols());  // what the noise adds to the paths' ends
  for (std::size_t j = n; (out[j] = aim(rows, value, variance + square(left), to)) && j > 0; --j) {
    MatrixXd slopes(q, r * kPoints);
    for (std::size_t p = 0; p < kPoints; ++p)
      for (std::size_t i = 0; i < q; ++i) {
        const auto row = static_cast<Eigen::Index>(i), column = static_cast<Eigen::Index>(p);
        const std::size_t lane = (j - 1) * kPoints + p;
        for (std::size_t s = 0; s < r; ++s) {
          const double slope = finite_or_zero(seen_[(2 + s) * q + i][lane]);
          slopes(row, static_cast<Eigen::Index>(p * r + s)) = slope;
          linear(row, column) += slope * normal(p, s, j - 1);
        }
        left(row, column) = finite_or_zero(seen_[i][n * kPoints + p] - seen_[i][lane] - linear(row, column));
      }
    variance += square(slopes);
  }
  return out;
}

void Aimer::observe(const Schedule::Visit& at, std::span<const double> values, std::size_t steps) {
  std::vector<double> uniforms{schedule_.grid.time[at.point]};
  uniforms.insert(uniforms.end(), values.begin(), values.end());
  observe_.set_uniforms(uniforms);
  std::vector<const double*> in;
  std::vector<double*> out;
  std::as_const(lanes_).append_to(in);
  seen_.append_to(out);
  observe_.over((steps + 1) * kPoints, in, out);
}
}  // namespace mckean
