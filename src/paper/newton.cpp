#include "paper/newton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/symmetric.hpp"
#include "model/unconstrained.hpp"

namespace mckean {
namespace {

constexpr double kDistance = 1.25;      // of the points, in standard errors
constexpr double kFloor = 0.04;         // of the observed over the complete-data information, in a first guess
constexpr double kAccuracy = 0.06;      // relative, that the standard errors shall have
constexpr double kLongestStep = 2;      // of the centre, in standard errors
constexpr double kLongestOnLine = 1.5;  // of a point from the centre, where standard errors are unknown or huge
constexpr int kMostRounds = 16;
constexpr std::size_t kChains = 4, kIterations = 24, kMostIterations = 4000;
constexpr std::size_t kMostFailures = 3;  // rounds in which a point has no score
constexpr double kMostWork = 1e10;  // particle-steps of the whole search: where paths hardly move, no number suffices

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

// W with Wᵀ I W ≈ 1 from Louis' matrix, in the metric of the complete-data information.
MatrixXd first_whitening(const Probe& probe, const std::vector<bool>& free) {
  std::vector<Index> used;
  for (std::size_t p = 0; p < free.size(); ++p)
    if (free[p] && probe.complete(static_cast<Index>(p), static_cast<Index>(p)) > 0)
      used.push_back(static_cast<Index>(p));
  const auto n = static_cast<Index>(used.size());
  MatrixXd complete(n, n), louis(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      complete(i, j) = probe.complete(used[static_cast<std::size_t>(i)], used[static_cast<std::size_t>(j)]);
      louis(i, j) = probe.louis(used[static_cast<std::size_t>(i)], used[static_cast<std::size_t>(j)]);
    }
  const VectorXd scale = complete.diagonal().cwiseSqrt().cwiseInverse();
  const Spectrum scaled = spectrum(scale.asDiagonal() * complete * scale.asDiagonal());
  const MatrixXd root =
      scale.asDiagonal() * scaled.vectors * scaled.values.cwiseMax(1e-8).cwiseSqrt().cwiseInverse().asDiagonal();
  const Spectrum share = spectrum(root.transpose() * louis * root);
  const MatrixXd local = root * share.vectors * share.values.cwiseMax(kFloor).cwiseSqrt().cwiseInverse().asDiagonal();
  MatrixXd out = MatrixXd::Zero(static_cast<Index>(free.size()), n);
  for (Index i = 0; i < n; ++i) out.row(used[static_cast<std::size_t>(i)]) = local.row(i);
  return out;
}

// Columns no longer than the line allows.
MatrixXd shortened(MatrixXd w) {
  for (Index k = 0; k < w.cols(); ++k) {
    const double longest = w.col(k).cwiseAbs().maxCoeff();
    if (longest * kDistance > kLongestOnLine) w.col(k) *= kLongestOnLine / (kDistance * longest);
  }
  return w;
}

// One look at the centre and around it, in the coordinates of W.
struct Look {
  MatrixXd slope;        // −∂(Wᵀ H)/∂w
  MatrixXd slope_error;  // standard error of each entry
  VectorXd score;        // Wᵀ H at the centre
  MatrixXd score_error;  // its covariance
  Probe here;
};

std::vector<Place> places_around(const Place& centre, const MatrixXd& w) {
  std::vector<Place> places;
  for (Index k = 0; k < w.cols(); ++k)
    for (const double side : {1.0, -1.0}) {
      places.push_back(centre);
      places.back().u += side * kDistance * w.col(k);
    }
  return places;
}

Look look_around(const std::vector<Probe>& probes, const MatrixXd& w) {
  Look out{MatrixXd(w.cols(), w.cols()), MatrixXd(w.cols(), w.cols()), {}, {}, probes[0]};
  for (Index k = 0; k < w.cols(); ++k) {
    const Probe &up = probes[static_cast<std::size_t>(2 * k)], &down = probes[static_cast<std::size_t>(2 * k + 1)];
    out.slope.col(k) = w.transpose() * (down.score - up.score) / (2 * kDistance);
    out.slope_error.col(k) =
        (w.transpose() * (up.score_error + down.score_error) * w).diagonal().cwiseSqrt() / (2 * kDistance);
  }
  for (std::size_t k = 1; k < probes.size(); ++k) out.here = combine(out.here, probes[k]);
  out.slope = (0.5 * (out.slope + out.slope.transpose())).eval();
  out.score = w.transpose() * out.here.score;
  out.score_error = w.transpose() * out.here.score_error * w;
  return out;
}
}  // namespace

ScoreMaximum find_maximum(Workbench& bench, const std::string& group, Place place, const Probe& first,
                          const std::vector<bool>& free) {
  ScoreMaximum out;
  out.noise = MatrixXd::Zero(place.u.size(), place.u.size());
  // How much further along a direction the next points may be, where the information is small or unknown. Less each
  // time that they turn out to have been too far: the log-likelihood is no parabola.
  double longest = 4;
  MatrixXd w = shortened(first_whitening(first, free));
  if (w.cols() == 0) {  // all parameters are held at their bounds
    out.u = place.u, out.whitening = w, out.converged = true;
    out.u_error = out.information = out.noise;
    return out;
  }
  ProbeEffort effort{.chains = kChains, .iterations = affordable(bench.problem, place, kIterations)};
  const double most_work = static_cast<double>(bench.particle_steps) + kMostWork;
  std::size_t looks = 0, failures = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<Place> places = places_around(place, w);
    const auto probes = probe(bench, fmt::format("{} {}", group, round), places, effort);
    const auto nowhere = std::ranges::find(probes, false, &Probe::found);
    if (nowhere != probes.end()) {
      if (++failures > kMostFailures)
        throw NumericalError(fmt::format("near the maximum, the score has no value: {}", nowhere->problem));
      longest = std::sqrt(longest);
      w *= 0.5;
      continue;
    }
    const Look look = look_around(probes, w);
    const auto [values, vectors] = spectrum(look.slope);
    const MatrixXd directions = w * vectors;
    // Entries err independently, so an eigenvalue errs by about the largest of them.
    const double error = look.slope_error.maxCoeff();
    if (values.size() > 0 && values.maxCoeff() > 4) longest = std::sqrt(longest);
    VectorXd scale(values.size()), step = VectorXd::Zero(place.u.size());
    out.undetermined.clear();
    double step_length = 0, worst = 0;
    bool flat = true;  // along all directions that the data do not determine
    std::vector<Index> known;
    for (Index k = 0; k < values.size(); ++k) {
      const VectorXd direction = directions.col(k);
      const bool determined = values[k] > 2.5 * error && values[k] > 1e-6;
      scale[k] = std::min(longest, 1 / std::sqrt(std::max(values[k], error)));
      const VectorXd e = vectors.col(k);
      const double slope = e.dot(look.score), slope_error = std::sqrt(e.dot(look.score_error * e));
      if (!determined) {
        out.undetermined.push_back(direction.normalized());
        if (std::abs(slope) > 3 * slope_error) {
          // Still on the way: a Newton step with the largest curvature that it may have.
          flat = false;
          step += direction * std::clamp(slope / (std::max(values[k], 0.0) + 2.5 * error), -kLongestStep, kLongestStep);
        }
        continue;
      }
      known.push_back(k);
      worst = std::max(worst, error / values[k] / 2);
      const double s = slope / std::sqrt(values[k]);  // in standard errors
      step_length = std::max(step_length, std::abs(s));
      step += direction * s / std::sqrt(values[k]) * std::min(1.0, kLongestStep / std::max(std::abs(s), 1e-300));
    }
    out.whitening = MatrixXd(place.u.size(), static_cast<Index>(known.size()));
    for (std::size_t k = 0; k < known.size(); ++k)
      out.whitening.col(static_cast<Index>(k)) = directions.col(known[k]) / std::sqrt(values[known[k]]);
    out.noise += (look.here.noise() - out.noise) / static_cast<double>(++looks);
    out.relative_error = worst;
    place.u += step;
    out.u = place.u;
    const MatrixXd inverse = out.whitening * out.whitening.transpose();
    out.u_error = inverse * look.here.score_error * inverse;
    out.information = pseudo_inverse(inverse);
    const MatrixXd next = shortened(directions * scale.asDiagonal());
    const bool far = std::ranges::any_of(scale, [](double s) { return s > 2 || s < 0.5; });
    // Directions that cannot be looked at from further away and are not seen by now stay unseen.
    const bool wide =
        ((next - directions * scale.asDiagonal()).cwiseAbs().maxCoeff() > 0) && effort.iterations >= 3 * kIterations;
    bench.observer.message(fmt::format(
        "maximum, round {}: {}; {}", round + 1,
        to_text(bench.model().parameters(), natural(bench.model().parameters(), place.u)),
        known.empty()
            ? "no information seen yet"
            : fmt::format("a step of {:.2g} standard errors, which are known to {:.0f} %", step_length, 100 * worst)));
    const double noise = look.score_error.size() ? std::sqrt(look.score_error.diagonal().maxCoeff()) : 0;
    out.converged = step_length < 1 + 2 * noise && flat;
    if (out.converged && out.undetermined.empty() && !far && worst <= kAccuracy) break;
    if (!out.undetermined.empty() && flat && wide) break;
    // As many iterations as the accuracy needs, but in steps: the distances change too, and on the way less will do.
    const double most = flat && step_length < 2 ? 6.0 : 1.5;
    const double needed = std::pow(std::max(error, 0.02) / (2 * kAccuracy * std::max(0.25, values.minCoeff())), 2);
    effort.iterations = std::min(kMostIterations, static_cast<std::size_t>(std::clamp(1.2 * needed, 1.0, most) *
                                                                           static_cast<double>(effort.iterations)));
    const double work = static_cast<double>(places.size()) * expected_cost(bench.problem, place, effort);
    if (static_cast<double>(bench.particle_steps) + work > most_work) {
      bench.observer.message("the search for the maximum ends at its limit of work");
      break;
    }
    w = next;
  }
  return out;
}
}  // namespace mckean
