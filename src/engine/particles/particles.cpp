#include "engine/particles/particles.hpp"

#include <algorithm>
#include <cmath>

namespace mckean {

Particles::Particles(const System& system, const Grid& grid, std::size_t count, NormalPrecision precision,
                     const Kernels& kernels)
    : system_(system), grid_(grid), kernels_(kernels), precision_(precision), count_(count) {
  const Model& model = system.model();
  for (Columns& x : x_) x = Columns(model.dimension(), count);
}

void Particles::set_law(const LawPath& law, std::span<const double> theta) {
  law_ = &law;
  theta_.assign(theta.begin(), theta.end());
  if (dynamics_ != law.dynamics) {
    dynamics_ = law.dynamics;
    move_.emplace(dynamics_->move, kernels_);
    pair_.reset();
    if (dynamics_->read_pair) pair_.emplace(*dynamics_, kernels_);
    xi_ = Columns(dynamics_->field.pairwise.size(), count_);
  }
  move_->set_fixed(theta);
  if (pair_) pair_->set_parameters(theta);
}

void Particles::start(const Stream& stream, std::uint32_t series) {
  now_ = 0;
  fill_start(system_.model(), kernels_, precision_, stream, series, count_, x_[0]);
}

LawStatus Particles::move(std::size_t from, std::size_t to, NoiseSource& noise) {
  for (std::size_t k = from; k < to; ++k)
    if (const LawStatus status = step(k, noise); status != LawStatus::good) return status;
  check_finite(to);
  return LawStatus::good;
}

void Particles::check_finite(std::size_t point) const {
  double lanes[kLanes] = {};
  for (std::size_t c = 0; c < x().count(); ++c) kernels_.sum(x()[c], count_, lanes);
  if (!std::ranges::all_of(lanes, [](double v) { return std::isfinite(v); }))
    report_overflow(system_.model(), theta_, grid_.level, grid_.time[point], "the filter's particles");
}

LawStatus Particles::step(std::size_t k, NoiseSource& noise) {
  const StepTime& step = grid_.step[k];
  uniforms_.assign({step.t, step.flow, step.root()});
  law_->append_inputs(k, uniforms_);
  if (!inside_windows()) return LawStatus::window_left;
  if (pair_) pair_->many(*law_, k, step.t, x(), count_, xi_);
  move_->set_uniforms(uniforms_);
  in_.clear();
  out_.clear();
  x().append_to(in_);
  xi_.append_to(in_);
  x_[1 - now_].append_to(out_);
  move_->over(count_, in_, out_, dynamics_->sources,
              [&](std::size_t j, std::size_t first) { return noise.block(k, j, first); });
  now_ = 1 - now_;
  return LawStatus::good;
}

bool Particles::inside_windows() const {
  for (const Window& w : dynamics_->field.windows) {
    const double* column = x()[w.component];
    const auto [low, high] = std::minmax_element(column, column + count_);
    const double center = uniforms_[3 + w.center_input], scale = uniforms_[4 + w.center_input];
    if ((*high - center) * scale > 1 || (center - *low) * scale > 1) return false;
  }
  return true;
}

void Particles::select(std::span<const std::uint32_t> ancestors) {
  for (std::size_t c = 0; c < x().count(); ++c)
    for (std::size_t i = 0; i < count_; ++i) x_[1 - now_][c][i] = x_[now_][c][ancestors[i]];
  now_ = 1 - now_;
}
}  // namespace mckean
