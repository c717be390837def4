#include "infer/search/describe.hpp"

#include <fmt/format.h>

#include <cmath>

#include "infer/search/intervals.hpp"
#include "infer/search/starts.hpp"

namespace mckean::search {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

namespace {

// A direction as a sum of parameters, those with hardly a part in it left out; one alone by its name.
std::string combination(const Reached& r, const VectorXd& direction) {
  const VectorXd natural = direction.cwiseProduct(r.box.slopes(r.rounds->fit()->top.z));
  std::string out, alone;
  for (Index i = 0; i < natural.size(); ++i) {
    const double c = natural[i];
    if (std::abs(c) < 0.05 * natural.cwiseAbs().maxCoeff()) continue;
    alone = out.empty() ? fmt::format("'{}'", r.parameters[static_cast<std::size_t>(i)].name) : "";
    out += fmt::format("{}{:.2g} {}", out.empty() ? (c < 0 ? "-" : "") : (c < 0 ? " - " : " + "), std::abs(c),
                       r.parameters[static_cast<std::size_t>(i)].name);
  }
  return alone.empty() ? out : alone;
}

void describe_interval(const Parameter& parameter, const Interval& s, bool flat, double& theta, Findings& findings) {
  if (s.at_bound == AtBound::none) {
    const bool one_end = s.lower.has_value() != s.upper.has_value();
    if (one_end || (!s.lower && !flat)) findings.push_back(undetermined(parameter.name, s));
    return;
  }
  const bool low = s.at_bound == AtBound::lower;
  theta = low ? parameter.lower : parameter.upper;
  const auto end = low ? s.upper : s.lower;
  findings.push_back(found_at_bound(parameter.name, theta, low, end));
}

void describe_fit(const Reached& r, const Fit& fit, Found& out) {
  const Box& box = r.box;
  const auto& flat = r.rounds->flat();
  out.theta = box.theta(fit.top.z);
  for (const Sample& x : r.rounds->last())
    if (x.group == 0) out.samples.push_back({box.theta(x.z), x.value, fit.f.value(fit.region.from(x.z))});
  out.loglik = fit.top.value + r.rounds->noise() * r.rounds->noise() / 2;  // E log p̂ ≈ log p − variance/2
  out.loglik_error = fit.f.value_error(fit.top.u);
  const VectorXd slopes = box.slopes(fit.top.z);
  out.covariance = slopes.asDiagonal() * fit.covariance * slopes.asDiagonal();
  for (Index i = 0; i < box.size(); ++i)
    out.mc_se[static_cast<std::size_t>(i)] = slopes[i] * std::sqrt(fit.error(i, i));
  const auto guesses = guessed_ends(fit, box, flat);
  auto ends = r.ends;
  if (ends.empty())
    for (const End& e : guesses) ends.push_back(e.trusted ? std::optional(e.guess) : std::nullopt);
  out.intervals = intervals(fit, box, guesses, ends);
  for (std::size_t i = 0; i < out.intervals.size(); ++i) {
    if (!out.intervals[i].std_error) out.mc_se[i] = std::nan("");
    describe_interval(r.parameters[i], out.intervals[i], !flat.empty(), out.theta[i], out.findings);
  }
  for (const VectorXd& direction : flat)
    out.findings.push_back({Finding::Code::flat_direction, {{"direction", combination(r, direction)}}});
}
}  // namespace

void describe(const Reached& r, Found& out) {
  const bool fitted = r.rounds && r.rounds->fit();
  out.theta = r.best.theta;
  out.loglik = r.best.loglik;
  out.mc_se.assign(out.theta.size(), std::nan(""));
  out.intervals.resize(out.theta.size());
  out.covariance = MatrixXd::Zero(r.box.size(), r.box.size());
  if (fitted) describe_fit(r, *r.rounds->fit(), out);
  out.inside = fitted ? r.box.theta(r.rounds->fit()->top.z) : out.theta;
  out.maxima.push_back({out.theta, out.loglik});
  out.maxima.insert(out.maxima.end(), r.others.begin(), r.others.end());
  if (!r.others.empty())
    out.findings.push_back({Finding::Code::several_maxima,
                            {{"count", r.others.size() + 1},
                             {"place", to_text(r.parameters, r.others[0].theta)},
                             {"loglik", r.others[0].loglik}}});
}
}  // namespace mckean::search
