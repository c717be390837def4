#include "paper/information.hpp"

#include <algorithm>
#include <cmath>

#include "model/unconstrained.hpp"

namespace mckean {
namespace {

Eigen::VectorXd as_vector(const std::vector<double>& v) {
  return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
}

Eigen::MatrixXd as_matrix(const std::vector<double>& m, Eigen::Index n) {
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(m.data(), n, n);
}

// −∂H/∂θ, symmetric up to the law's randomness.
Eigen::MatrixXd curvature_of(PathSampler& sampler, const Model& model, const std::vector<double>& theta) {
  const auto n = static_cast<Eigen::Index>(theta.size());
  Eigen::MatrixXd c(n, n);
  for (std::size_t q = 0; q < theta.size(); ++q) {
    const Parameter& p = model.parameters()[q];
    const double room = std::min(theta[q] - p.lower, p.upper - theta[q]);
    const double h = std::min(1e-4 * std::max(1.0, std::abs(theta[q])), 0.1 * room);
    std::vector<double> up = theta, down = theta;
    up[q] += h, down[q] -= h;
    c.col(static_cast<Eigen::Index>(q)) =
        (as_vector(sampler.score(down).gradient) - as_vector(sampler.score(up).gradient)) / (2 * h);
  }
  return 0.5 * (c + c.transpose());
}

// How often an iteration renews the path of a series where that happens least. The point is chosen by the first half of
// the iterations and judged by the second: the lowest of many noisy shares would look worse than any of them is.
class Renewals {
 public:
  Renewals(const Schedule& schedule, const std::vector<Path>& paths) : schedule_(schedule) {
    for (std::size_t s = 0; s < paths.size(); ++s) {
      std::vector<Point> points;
      for (const auto& stop : schedule.stops[s])
        if (stop.point > 0) points.push_back({paths[s][0][stop.point]});
      series_.push_back(std::move(points));
    }
  }
  void count(const std::vector<Path>& paths, bool second_half) {
    for (std::size_t s = 0; s < paths.size(); ++s) {
      std::size_t i = 0;
      for (const auto& stop : schedule_.stops[s]) {
        if (stop.point == 0) continue;
        Point& p = series_[s][i++];
        const double now = paths[s][0][stop.point];
        if (now != p.value) ++(second_half ? p.late : p.early);
        p.value = now;
      }
    }
  }
  double late_changes() const {  // averaged over the series
    double sum = 0, count = 0;
    for (const auto& points : series_)
      if (!points.empty()) sum += std::ranges::min_element(points, {}, &Point::early)->late, ++count;
    return count > 0 ? sum / count : 0;
  }

 private:
  struct Point {
    double value, early = 0, late = 0;
  };
  Schedule schedule_;
  std::vector<std::vector<Point>> series_;
};
}  // namespace

HeldMoments held_moments(const ParticleProblem& problem, const ChainOptions& options, ChainIdentity id,
                         const HeldOptions& held) {
  PathSampler sampler(problem, options, id);
  const std::vector<double> theta = through_unconstrained(problem.model().parameters(), options.start);
  sampler.start(theta, options.burn_in);
  const auto n = static_cast<Eigen::Index>(options.start.size());
  const Eigen::MatrixXd zero = Eigen::MatrixXd::Zero(n, n);
  HeldMoments out{Eigen::VectorXd::Zero(n), zero, zero, zero, zero};
  const double share = 1 / static_cast<double>(held.iterations);
  Renewals renewals(problem.schedule(id.steps()), sampler.paths());
  for (std::size_t i = 0; i < held.iterations; ++i) {
    const PathScore s = sampler.advance(theta);
    renewals.count(sampler.paths(), i >= held.iterations / 2);
    const Eigen::VectorXd h = as_vector(s.gradient);
    out.score += share * h;
    out.squares += share * h * h.transpose();
    out.complete += share * as_matrix(s.information, n);
    if (!held.curvature) continue;
    out.curvature += share * curvature_of(sampler, problem.model(), options.start);
    const Eigen::VectorXd difference = h - as_vector(sampler.score_with_another_law(options.start).gradient);
    out.law_noise += 0.5 * share * difference * difference.transpose();
  }
  const auto late = held.iterations - held.iterations / 2;
  out.renewal = renewals.late_changes() / static_cast<double>(late);
  out.particle_steps = sampler.particle_steps();
  return out;
}

HeldMoments average(std::span<const HeldMoments> all) {
  HeldMoments out = all[0];
  for (const HeldMoments& m : all.subspan(1)) {
    out.score += m.score, out.squares += m.squares, out.complete += m.complete, out.curvature += m.curvature;
    out.law_noise += m.law_noise, out.renewal += m.renewal;
    out.particle_steps += m.particle_steps;
  }
  const double share = 1 / static_cast<double>(all.size());
  out.score *= share, out.squares *= share, out.complete *= share, out.curvature *= share;
  out.law_noise *= share, out.renewal *= share;
  return out;
}

Eigen::MatrixXd observed_information(const HeldMoments& m) {
  return m.curvature - (m.squares - m.score * m.score.transpose());
}

Eigen::MatrixXd unconstrained_information(const Model& model, std::span<const double> theta,
                                          const Eigen::MatrixXd& information) {
  return ChainRule(model.parameters(), unconstrained(model.parameters(), theta)).information(information);
}
}  // namespace mckean
