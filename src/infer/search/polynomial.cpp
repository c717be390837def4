#include "infer/search/polynomial.hpp"

#include <algorithm>
#include <cmath>

#include "model/symmetric.hpp"

namespace mckean::search {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

Region Region::of(VectorXd centre, const MatrixXd& covariance, Index axes) {
  const Spectrum s = spectrum(covariance);
  const double floor = 1e-24 * std::max(1.0, s.values.maxCoeff());
  return {std::move(centre), s.values.tail(axes).cwiseMax(floor).cwiseSqrt(), s.vectors.rightCols(axes)};
}

std::vector<Polynomial::Term> Polynomial::all_terms(Index n, int degree) {
  // Those of each degree extend those of the one before by a variable that is not earlier than their last.
  std::vector<Term> out{{-1, -1, -1}};
  std::size_t first = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(degree); ++d) {
    const std::size_t end = out.size();
    for (std::size_t t = first; t < end; ++t)
      for (int i = d == 0 ? 0 : out[t][d - 1]; i < static_cast<int>(n); ++i) {
        Term longer = out[t];
        longer[d] = i;
        out.push_back(longer);
      }
    first = end;
  }
  return out;
}

std::size_t Polynomial::terms(Index n, int degree) { return all_terms(n, degree).size(); }

double Polynomial::monomial(const Term& term, const VectorXd& u) {
  double out = 1;
  for (const int i : term)
    if (i >= 0) out *= u[i];
  return out;
}

VectorXd Polynomial::row(const VectorXd& u, int degree) {
  const auto terms = all_terms(u.size(), degree);
  VectorXd out(static_cast<Index>(terms.size()));
  for (Index j = 0; j < out.size(); ++j) out[j] = monomial(terms[static_cast<std::size_t>(j)], u);
  return out;
}

MatrixXd Polynomial::design(std::span<const Sample> samples, const Region& region) const {
  std::size_t groups = 0;
  for (const Sample& s : samples) groups = std::max(groups, s.group);
  const auto n = static_cast<Index>(samples.size()), own = static_cast<Index>(terms_.size());
  MatrixXd out = MatrixXd::Zero(n, own + static_cast<Index>(groups) * (1 + variables_));
  for (Index i = 0; i < n; ++i) {
    const Sample& s = samples[static_cast<std::size_t>(i)];
    const double weight = 1 / std::sqrt(s.variance);
    const VectorXd u = region.from(s.z);
    for (Index j = 0; j < own; ++j) out(i, j) = weight * monomial(terms_[static_cast<std::size_t>(j)], u);
    if (s.group == 0) continue;
    out(i, offset(s.group)) = weight;
    out.row(i).segment(offset(s.group) + 1, variables_) = weight * u.transpose();
  }
  return out;
}

MatrixXd Polynomial::uncertainty(std::span<const Sample> samples, const Region& region, int degree) {
  constexpr double kNothing = 1e-2;
  Polynomial p;
  p.variables_ = region.widths.size();
  p.terms_ = all_terms(p.variables_, degree);
  const MatrixXd design = p.design(samples, region);
  MatrixXd information = design.transpose() * design;
  information.diagonal().array() += kNothing;
  const auto own = static_cast<Index>(p.terms_.size());
  return pseudo_inverse(information, 0).topLeftCorner(own, own);
}

std::optional<Polynomial> Polynomial::through(std::span<const Sample> samples, const Region& region, int degree) {
  Polynomial p;
  p.variables_ = region.widths.size();
  p.terms_ = all_terms(p.variables_, degree);
  const MatrixXd design = p.design(samples, region);
  const Index n = design.rows(), all = design.cols();
  if (n < all + 3) return {};
  double level = 0;  // values are taken relative to their mean: rounding of a large log-likelihood does not count
  for (const Sample& s : samples) level += s.value / static_cast<double>(n);
  MatrixXd points = MatrixXd::Ones(n, 1 + p.variables_);
  VectorXd right(n);
  for (Index i = 0; i < n; ++i) {
    const Sample& s = samples[static_cast<std::size_t>(i)];
    points.row(i).tail(p.variables_) = region.from(s.z).transpose();
    right[i] = (s.value - level) / std::sqrt(s.variance);
  }
  const auto normal = inverse_if_positive(design.transpose() * design, 1e-11);
  if (!normal) return {};
  p.coefficients_ = *normal * (design.transpose() * right);
  const VectorXd left = right - design * p.coefficients_;
  p.noise_ = left.squaredNorm() / static_cast<double>(n - all);
  p.covariance_ = p.noise_ * *normal;
  p.coefficients_[0] += level;
  p.add_half_the_noise(points, left.cwiseAbs2() * (static_cast<double>(n) / static_cast<double>(n - all)));
  return p;
}

// The variance and its slope by a line through the squares of what is left over, with errors that do not assume that
// those of all squares are alike; its curvature as if its logarithm were linear.
void Polynomial::add_half_the_noise(const MatrixXd& points, const VectorXd& squares) {
  const auto normal = inverse_if_positive(points.transpose() * points, 1e-11);
  if (!normal) return;
  const VectorXd line = *normal * (points.transpose() * squares), slope = line.tail(variables_);
  const MatrixXd spread = (squares - points * line).asDiagonal() * points * *normal;
  const MatrixXd error = (spread.transpose() * spread).bottomRightCorner(variables_, variables_);
  coefficients_.segment(1, variables_) += slope / 2;
  covariance_.block(1, 1, variables_, variables_) += error / 4;
  if (!(line[0] > 0)) return;
  const MatrixXd curvature = (slope * slope.transpose() - error) / line[0];
  for (std::size_t t = 0; t < terms_.size(); ++t)
    if (const auto [i, j, k] = terms_[t]; j >= 0 && k < 0)
      coefficients_[static_cast<Index>(t)] += curvature(i, j) / (i == j ? 4 : 2);
}

Index Polynomial::offset(std::size_t group) const {
  return static_cast<Index>(terms_.size()) + static_cast<Index>(group - 1) * (1 + variables_);
}

VectorXd Polynomial::offset_gradient(std::size_t group) const {
  return coefficients_.segment(offset(group) + 1, variables_);
}

MatrixXd Polynomial::offset_error(std::size_t group) const {
  return covariance_.block(offset(group) + 1, offset(group) + 1, variables_, variables_);
}

double Polynomial::value(const VectorXd& u) const {
  double out = 0;
  for (std::size_t t = 0; t < terms_.size(); ++t) out += coefficients_[static_cast<Index>(t)] * monomial(terms_[t], u);
  return out;
}

namespace {

// d/du_i of a monomial's indices: how often i occurs, and the term without one of them.
template <class Term>
std::pair<int, Term> derivative(const Term& term, int i) {
  Term rest;
  rest.fill(-1);
  int power = 0;
  std::size_t at = 0;
  for (const int j : term) {
    if (j == i && power++ == 0) continue;
    rest[at++] = j;
  }
  return {power, rest};
}
}  // namespace

VectorXd Polynomial::gradient(const VectorXd& u) const {
  VectorXd out = VectorXd::Zero(u.size());
  for (std::size_t t = 0; t < terms_.size(); ++t)
    for (int i = 0; i < static_cast<int>(u.size()); ++i)
      if (const auto [power, rest] = derivative(terms_[t], i); power > 0)
        out[i] += coefficients_[static_cast<Index>(t)] * power * monomial(rest, u);
  return out;
}

MatrixXd Polynomial::hessian(const VectorXd& u) const {
  MatrixXd out = MatrixXd::Zero(u.size(), u.size());
  const auto n = static_cast<int>(u.size());
  for (std::size_t t = 0; t < terms_.size(); ++t)
    for (int i = 0; i < n; ++i) {
      const auto [first, rest] = derivative(terms_[t], i);
      if (first == 0) continue;
      for (int j = 0; j < n; ++j)
        if (const auto [second, last] = derivative(rest, j); second > 0)
          out(i, j) += coefficients_[static_cast<Index>(t)] * first * second * monomial(last, u);
    }
  return out;
}

double Polynomial::value_error(const VectorXd& u) const {
  VectorXd row = VectorXd::Zero(coefficients_.size());
  for (std::size_t t = 0; t < terms_.size(); ++t) row[static_cast<Index>(t)] = monomial(terms_[t], u);
  return std::sqrt(std::max(0.0, row.dot(covariance_ * row)));
}

MatrixXd Polynomial::gradient_error(const VectorXd& u) const {
  MatrixXd rows = MatrixXd::Zero(u.size(), coefficients_.size());
  for (std::size_t t = 0; t < terms_.size(); ++t)
    for (int i = 0; i < static_cast<int>(u.size()); ++i)
      if (const auto [power, rest] = derivative(terms_[t], i); power > 0)
        rows(i, static_cast<Index>(t)) = power * monomial(rest, u);
  return rows * covariance_ * rows.transpose();
}

double Polynomial::curvature_error(const VectorXd& direction) const {
  VectorXd row = VectorXd::Zero(coefficients_.size());
  for (std::size_t t = 0; t < terms_.size(); ++t)
    if (terms_[t][1] >= 0 && terms_[t][2] < 0) row[static_cast<Index>(t)] = 2 * monomial(terms_[t], direction);
  return std::sqrt(std::max(0.0, row.dot(covariance_ * row)));
}
}  // namespace mckean::search
