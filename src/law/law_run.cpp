#include "law/law_run.hpp"

#include <cmath>

namespace mckean {

LawRun::LawRun(const LawSetting& setting, const Dynamics& dynamics, const LawPoint& at, std::size_t particles,
               LawWatcher watch, const LawPath* windows)
    : setting_(setting),
      at_(at),
      cloud_(setting.system.model(), dynamics, particles, setting.kernels, setting.options.cells),
      watch_(std::move(watch)),
      windows_(windows) {
  cloud_.set_parameters(at.theta);
}

LawStatus LawRun::start() {
  cloud_.start(setting_.noise.start, setting_.options.precision);
  return arrive(0);
}

LawStatus LawRun::step(std::size_t k, NoiseSource& noise) {
  cloud_.advance(k, at_.grid.step[k], at_.grid.time[k + 1], noise);
  return arrive(k + 1);
}

void LawRun::overflow(std::size_t k, const char* who) const {
  report_overflow(setting_.system.model(), at_.theta, at_.grid.level, at_.grid.time[k], who);
}

LawStatus LawRun::arrive(std::size_t k) {
  // A number that is not finite stays so, and moments need not show it: look now and then, and at the end.
  if ((k % 16 == 0 || k == at_.grid.steps()) && !cloud_.finite()) overflow(k, "the particles of the law");
  given_.clear();
  if (windows_) windows_->append_inputs(k, given_);
  const Windows windows{setting_.options.margin, windows_ ? given_.data() : nullptr};
  LawStatus status = cloud_.measure(at_.grid.time[k], windows);
  if (status == LawStatus::good && k < at_.grid.steps()) status = cloud_.measure_stages(at_.grid.step[k], windows);
  if (status != LawStatus::good) return status;
  for (const auto* values : {&cloud_.inputs(), &cloud_.tangents()})
    for (const double v : *values)
      if (!std::isfinite(v)) overflow(k, "the moments of the law");
  watch_(k, cloud_);
  return status;
}

LawPath empty_law_path(std::shared_ptr<const Dynamics> dynamics, std::size_t particles, const Grid& grid) {
  LawPath path;
  path.dynamics = std::move(dynamics);
  path.particles = particles;
  path.points = grid.steps() + 1;
  const Dynamics& d = *path.dynamics;
  path.inputs = Columns(d.inputs() * d.stages, path.points);
  if (d.tangents) path.tangents = Columns(path.inputs.count() * d.dynamic.size(), path.points);
  if (!d.field.pairwise.empty() && !d.cells) path.position_columns = d.dimension + d.tangents;
  return path;
}

LawWatcher recorder(LawPath& path) {
  return [&path](std::size_t k, const Cloud& cloud) {
    for (std::size_t i = 0; i < path.inputs.count(); ++i) path.inputs[i][k] = cloud.inputs()[i];
    for (std::size_t i = 0; i < path.tangents.count(); ++i) path.tangents[i][k] = cloud.tangents()[i];
    if (path.dynamics->cells) path.cells.push_back(cloud.cell_moments());
    for (std::size_t c = 0; c < path.position_columns; ++c)
      path.positions.insert(path.positions.end(), cloud.state()[c], cloud.state()[c] + path.stride());
  };
}
}  // namespace mckean
