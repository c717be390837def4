#include "paper/newton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/symmetric.hpp"
#include "model/unconstrained.hpp"

namespace mckean {
namespace {

constexpr double kDistance = 1.25;  // of the points, in standard errors
constexpr double kFloor = 0.04;     // of the observed over the complete-data information, in a first guess
constexpr double kAccuracy = 0.06;  // relative, that the standard errors shall have
constexpr double kLongestStep = 2;  // of the centre, in standard errors
constexpr double kLongest = 1.5;    // of a point from the centre, where standard errors are unknown or huge
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

// Columns that lead no further than kLongest.
MatrixXd shortened(MatrixXd w) {
  for (Index k = 0; k < w.cols(); ++k) {
    const double longest = w.col(k).cwiseAbs().maxCoeff();
    if (longest * kDistance > kLongest) w.col(k) *= kLongest / (kDistance * longest);
  }
  return w;
}

// Scores at the points around the centre, in the coordinates of W.
struct ScoreField {
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

ScoreField score_field(const std::vector<Probe>& probes, const MatrixXd& w) {
  ScoreField out{MatrixXd(w.cols(), w.cols()), MatrixXd(w.cols(), w.cols()), {}, {}, probes[0]};
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

// What the scores of one round say of the directions in which the slope is diagonal.
struct Judgement {
  VectorXd values;      // information along each direction
  MatrixXd directions;  // one a column
  double error = 0;     // of the values. Entries err independently, so an eigenvalue errs by about the largest of them
  VectorXd scale;       // by which the next points are further along each
  VectorXd step;        // of the centre
  double length = 0;    // of the step, in standard errors, along any direction
  double worst = 0;     // relative error of the standard errors
  bool flat = true;     // along all directions that the data do not determine
  std::vector<Index> known;
  std::vector<VectorXd> undetermined;
};

// `longest`: how much further along a direction the next points may be.
Judgement judge(const ScoreField& field, const MatrixXd& w, double longest) {
  const auto [values, vectors] = spectrum(field.slope);
  Judgement out;
  out.values = values, out.directions = w * vectors, out.error = field.slope_error.maxCoeff();
  out.scale = VectorXd(values.size()), out.step = VectorXd::Zero(w.rows());
  for (Index k = 0; k < values.size(); ++k) {
    const VectorXd direction = out.directions.col(k);
    const bool determined = values[k] > 2.5 * out.error && values[k] > 1e-6;
    out.scale[k] = std::min(longest, 1 / std::sqrt(std::max(values[k], out.error)));
    const VectorXd e = vectors.col(k);
    const double slope = e.dot(field.score), slope_error = std::sqrt(e.dot(field.score_error * e));
    if (!determined) {
      out.undetermined.push_back(direction.normalized());
      if (std::abs(slope) > 3 * slope_error) {
        // Still on the way: a Newton step with the largest curvature that it may have.
        out.flat = false;
        out.step +=
            direction * std::clamp(slope / (std::max(values[k], 0.0) + 2.5 * out.error), -kLongestStep, kLongestStep);
      }
      continue;
    }
    out.known.push_back(k);
    out.worst = std::max(out.worst, out.error / values[k] / 2);
    const double s = slope / std::sqrt(values[k]);  // in standard errors
    out.length = std::max(out.length, std::abs(s));
    out.step += direction * s / std::sqrt(values[k]) * std::min(1.0, kLongestStep / std::max(std::abs(s), 1e-300));
  }
  return out;
}

// Rounds of points around a centre that moves, until the standard errors are known.
class MaximumSearch {
 public:
  MaximumSearch(Workbench& bench, std::string group, Place place, MatrixXd whitening)
      : bench_(bench),
        group_(std::move(group)),
        place_(std::move(place)),
        w_(std::move(whitening)),
        effort_{.chains = kChains, .iterations = affordable(bench.problem, place_, kIterations)},
        most_work_(static_cast<double>(bench.particle_steps) + kMostWork) {
    out_.noise = MatrixXd::Zero(place_.u.size(), place_.u.size());
  }

  ScoreMaximum run() {
    for (int round = 0; round < kMostRounds; ++round) {
      const auto probes = probe(bench_, fmt::format("{} {}", group_, round), places_around(place_, w_), effort_);
      const auto nowhere = std::ranges::find(probes, false, &Probe::found);
      if (nowhere != probes.end())
        come_closer(nowhere->problem);
      else if (!use(score_field(probes, w_), round))
        break;
    }
    return std::move(out_);
  }

 private:
  void come_closer(const std::string& problem) {
    if (++failures_ > kMostFailures)
      throw NumericalError(fmt::format("near the maximum, the score has no value: {}", problem));
    longest_ = std::sqrt(longest_);
    w_ *= 0.5;
  }

  // False: it ends here.
  bool use(const ScoreField& field, int round) {
    if (spectrum(field.slope).values.maxCoeff() > 4) longest_ = std::sqrt(longest_);
    const Judgement judged = judge(field, w_, longest_);
    record(field, judged);
    tell(judged, round);
    const MatrixXd wanted = judged.directions * judged.scale.asDiagonal(), next = shortened(wanted);
    if (finished(judged, (next - wanted).cwiseAbs().maxCoeff() > 0)) return false;
    grow_effort(judged);
    const double work = static_cast<double>(2 * w_.cols()) * expected_cost(bench_.problem, place_, effort_);
    if (static_cast<double>(bench_.particle_steps) + work > most_work_) {
      bench_.observer.message("the search for the maximum ends at its limit of work");
      return false;
    }
    w_ = next;
    return true;
  }

  void record(const ScoreField& field, const Judgement& judged) {
    out_.undetermined = judged.undetermined;
    out_.whitening = MatrixXd(place_.u.size(), static_cast<Index>(judged.known.size()));
    for (std::size_t k = 0; k < judged.known.size(); ++k)
      out_.whitening.col(static_cast<Index>(k)) =
          judged.directions.col(judged.known[k]) / std::sqrt(judged.values[judged.known[k]]);
    out_.noise += (field.here.noise() - out_.noise) / static_cast<double>(++rounds_used_);
    out_.relative_error = judged.worst;
    place_.u += judged.step;
    out_.u = place_.u;
    const MatrixXd inverse = out_.whitening * out_.whitening.transpose();
    out_.u_error = inverse * field.here.score_error * inverse;
    out_.information = pseudo_inverse(inverse);
    const double noise = field.score_error.size() ? std::sqrt(field.score_error.diagonal().maxCoeff()) : 0;
    out_.converged = judged.length < 1 + 2 * noise && judged.flat;
  }

  void tell(const Judgement& judged, int round) {
    const auto& parameters = bench_.model().parameters();
    bench_.observer.message(
        fmt::format("maximum, round {}: {}; {}", round + 1, to_text(parameters, natural(parameters, place_.u)),
                    judged.known.empty() ? "no information seen yet"
                                         : fmt::format("a step of {:.2g} standard errors, which are known to {:.0f} %",
                                                       judged.length, 100 * judged.worst)));
  }

  // `cut`: some points would be further away, were that allowed.
  bool finished(const Judgement& judged, bool cut) const {
    const bool far = std::ranges::any_of(judged.scale, [](double s) { return s > 2 || s < 0.5; });
    if (out_.converged && out_.undetermined.empty() && !far && judged.worst <= kAccuracy) return true;
    // Directions that cannot be looked at from further away and are not seen by now stay unseen.
    return !out_.undetermined.empty() && judged.flat && cut && effort_.iterations >= 3 * kIterations;
  }

  // As many iterations as the accuracy needs, but in steps: the distances change too, and on the way less will do.
  void grow_effort(const Judgement& judged) {
    const double most = judged.flat && judged.length < 2 ? 6.0 : 1.5;
    const double needed =
        std::pow(std::max(judged.error, 0.02) / (2 * kAccuracy * std::max(0.25, judged.values.minCoeff())), 2);
    effort_.iterations = std::min(kMostIterations, static_cast<std::size_t>(std::clamp(1.2 * needed, 1.0, most) *
                                                                            static_cast<double>(effort_.iterations)));
  }

  Workbench& bench_;
  std::string group_;
  Place place_;
  MatrixXd w_;
  ProbeEffort effort_;
  double most_work_;
  // How much further along a direction the next points may be, where the information is small or unknown. Less each
  // time that they turn out to have been too far: the log-likelihood is no parabola.
  double longest_ = 4;
  std::size_t rounds_used_ = 0, failures_ = 0;
  ScoreMaximum out_;
};
}  // namespace

ScoreMaximum find_maximum(Workbench& bench, const std::string& group, Place place, const Probe& first,
                          const std::vector<bool>& free) {
  MatrixXd w = shortened(first_whitening(first, free));
  if (w.cols() > 0) return MaximumSearch(bench, group, std::move(place), std::move(w)).run();
  ScoreMaximum out;  // all parameters are held at their bounds
  out.noise = out.u_error = out.information = MatrixXd::Zero(place.u.size(), place.u.size());
  out.u = place.u, out.whitening = w, out.converged = true;
  return out;
}
}  // namespace mckean
