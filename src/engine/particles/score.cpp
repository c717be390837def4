#include "engine/particles/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mckean/error.hpp"

namespace mckean {

Score::Score(const System& system, const ObservationScore& observation, const Schedule& schedule,
             const Kernels& kernels)
    : system_(system),
      schedule_(schedule),
      kernels_(kernels),
      observation_(observation, kernels),
      clock_(3, schedule.grid.steps()) {
  for (std::size_t k = 0; k < schedule.grid.steps(); ++k) {
    const StepTime& step = schedule.grid.step[k];
    clock_[0][k] = step.t, clock_[1][k] = step.flow, clock_[2][k] = step.variance;
  }
}

PathScore Score::zero() const {
  const std::size_t n = system_.model().parameters().size();
  return {std::vector<double>(n), std::vector<double>(n * n)};
}

void Score::use(const LawPath& law) {
  const auto dynamics = system_.dynamics(schedule_.grid.scheme, law.dynamics->field.rank, true);
  if (dynamics_ != dynamics) {
    dynamics_ = dynamics;
    frame_.emplace(dynamics_->score, kernels_);
    pair_.reset();
    if (dynamics_->read_pair) pair_.emplace(*dynamics_, kernels_);
    points_ = Columns(dynamics_->score.outputs(), schedule_.grid.steps());
    xi_ = Columns(dynamics_->field.pairwise.size() * (1 + dynamics_->dynamic.size()), schedule_.grid.steps());
  }
  frame_->set_fixed(theta_);
  if (pair_) pair_->set_parameters(theta_);
}

bool Score::inside_windows(const LawPath& law, const Path& path, std::size_t steps) const {
  for (const Window& w : dynamics_->field.windows)
    for (std::size_t k = 0; k < steps; ++k)
      if (std::abs(path[w.component][k] - law.inputs[w.center_input][k]) * law.inputs[w.center_input + 1][k] > 1)
        return false;
  return true;
}

// The same at the later stages of a step.
bool Score::stages_inside(const LawPath& law, std::size_t steps) const {
  const auto& windows = dynamics_->field.windows;
  for (std::size_t i = 0; i < points_.count(); ++i) {
    const std::size_t input = (1 + i / windows.size()) * dynamics_->inputs() + windows[i % windows.size()].center_input;
    for (std::size_t k = 0; k < steps; ++k)
      if (std::abs(points_[i][k] - law.inputs[input][k]) * law.inputs[input + 1][k] > 1) return false;
  }
  return true;
}

LawStatus Score::read_pairwise(const LawPath& law, const Path& path, std::size_t steps) {
  std::vector<double> own(dynamics_->dimension), means(xi_.count());
  for (std::size_t k = 0; k < steps; ++k) {
    for (std::size_t c = 0; c < own.size(); ++c) own[c] = path[c][k];
    if (!pair_->one(law, k, schedule_.grid.step[k].t, own, means)) return LawStatus::window_left;
    for (std::size_t p = 0; p < means.size(); ++p) xi_[p][k] = means[p];
  }
  return LawStatus::good;
}

LawStatus Score::add(std::size_t series, const Path& path, const LawPath& law, PathScore& to) {
  use(law);
  observation_.set_parameters(theta_);
  const std::size_t steps = schedule_.stops[series].back().point, d = dynamics_->dimension;
  if (!inside_windows(law, path, steps)) return LawStatus::window_left;
  if (pair_)
    if (const LawStatus status = read_pairwise(law, path, steps); status != LawStatus::good) return status;
  frame_->clear_sums();
  std::vector<const double*> in;
  path.append_to(in);
  for (std::size_t c = 0; c < d; ++c) in.push_back(path[c] + 1);
  for (const Columns* columns : {&std::as_const(clock_), &law.inputs, &law.tangents, &std::as_const(xi_)})
    columns->append_to(in);
  std::vector<double*> points;
  points_.append_to(points);
  frame_->over(steps, in, points);
  if (!stages_inside(law, steps)) return LawStatus::window_left;
  const std::size_t all = system_.model().parameters().size();
  const auto& dynamic = dynamics_->dynamic;
  std::size_t next = 0;
  for (const std::size_t p : dynamic) to.gradient[p] += frame_->sum(next++);
  for (std::size_t p = 0; p < dynamic.size(); ++p)
    for (std::size_t q = p; q < dynamic.size(); ++q) {
      const double value = frame_->sum(next++);
      to.information[dynamic[p] * all + dynamic[q]] += value;
      if (p != q) to.information[dynamic[q] * all + dynamic[p]] += value;
    }
  observation_.add(schedule_, series, path, to.gradient, to.information);
  for (std::size_t p = 0; p < all; ++p)
    if (!std::isfinite(to.gradient[p]))
      throw NumericalError(
          fmt::format("the score of '{}' is {} at level {}, with {}; a derivative has a pole on the path",
                      system_.model().parameters()[p].name, to.gradient[p], schedule_.grid.level,
                      to_text(system_.model().parameters(), theta_)));
  return LawStatus::good;
}
}  // namespace mckean
