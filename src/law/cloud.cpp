#include "law/cloud.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mckean {

void fill_start(const Model& model, const Kernels& kernels, NormalPrecision precision, const Stream& stream,
                std::uint32_t number, std::size_t rows, Columns& x) {
  const std::size_t d = model.dimension(), padded = (rows + kTileSize - 1) / kTileSize * kTileSize;
  for (std::size_t c = 0; c < d; ++c) {
    const Component& component = model.components()[c];
    if (component.start_sd == 0) {
      std::fill_n(x[c], padded, component.start);
      continue;
    }
    normals(kernels, precision, stream, {number, static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(d)}, 0,
            padded, x[c]);
    for (std::size_t i = 0; i < padded; ++i) x[c][i] = component.start + component.start_sd * x[c][i];
  }
}

void pairwise_means(Frame& pair, double t, const LawParticles& others, std::span<const double* const> own,
                    std::span<double* const> means, std::size_t n, const Kernels& kernels) {
  const std::size_t padded = (n + kLanes - 1) / kLanes * kLanes;
  AlignedBuffer memory(means.size() * kBlock + kLanes);
  std::vector<double*> out;
  for (std::size_t k = 0; k < means.size(); ++k) {
    out.push_back(memory.data() + k * kBlock);
    std::fill_n(means[k], padded, 0.0);
  }
  std::vector<double> uniforms(1 + others.columns.size());
  uniforms[0] = t;
  const Kernel add = kernels.run[static_cast<std::size_t>(Instr::add)];
  for (std::size_t j = 0; j < others.count; ++j) {
    for (std::size_t c = 0; c < others.columns.size(); ++c) uniforms[1 + c] = others.columns[c][j];
    pair.set_uniforms(uniforms);
    pair.run(own, out, n);
    for (std::size_t k = 0; k < means.size(); ++k)
      add(means[k], nullptr, {means[k], 1}, {out[k], 1}, {out[k], 1}, padded);
  }
  double* share = memory.data() + means.size() * kBlock;
  std::fill_n(share, kLanes, 1 / static_cast<double>(others.count));
  const Kernel mul = kernels.run[static_cast<std::size_t>(Instr::mul)];
  for (double* m : means) mul(m, nullptr, {m, 1}, {share, 0}, {share, 0}, padded);
}

Cloud::Cloud(const Model& model, const Dynamics& dynamics, std::size_t particles, const Kernels& kernels,
             CellChoice cell_choice)
    : model_(model),
      dynamics_(dynamics),
      kernels_(kernels),
      particles_(particles),
      measure_(dynamics.measure, kernels),
      advance_(dynamics.advance, kernels),
      noise_(dynamics.advance_noise, kernels),
      cell_choice_(cell_choice),
      expander_(dynamics, kernels) {
  const std::size_t columns = dynamics.dimension + dynamics.tangents + dynamics.carried;
  for (Columns& s : state_) s = Columns(columns, particles);
  xi_ = Columns(dynamics.field.pairwise.size() * (1 + parameters()), particles);
  slopes_ = Columns((dynamics.stages - 1) * (dynamics.dimension + dynamics.tangents), particles);
  if (dynamics.stages > 1 && !dynamics.fused) point_ = Columns(dynamics.dimension + dynamics.tangents, particles);
  if (dynamics.cells)
    cells_.emplace(dynamics, kernels);
  else if (dynamics.pair)
    pair_.emplace(*dynamics.pair, kernels);
  for (const Program& p : dynamics.stage) stages_.emplace_back(p, kernels);
  moments_.resize(dynamics.moments() * (1 + parameters()));
  inputs_.resize(dynamics.stages * dynamics.inputs());
  tangents_.resize(inputs_.size() * parameters());
  stage_inputs_.resize(dynamics.inputs());
  stage_tangents_.resize(dynamics.inputs() * parameters());
}

void Cloud::set_parameters(std::span<const double> theta) {
  measure_.set_fixed(theta);
  advance_.set_fixed(theta);
  noise_.set_fixed(theta);
  for (Frame& f : stages_) f.set_fixed(theta);
  if (pair_) pair_->set_fixed(theta);
  if (cells_) cells_->set_parameters(theta);
  expander_.set_parameters(theta);
}

void Cloud::start(const Stream& stream, NormalPrecision precision) {
  now_ = 0;
  measured_ = false;
  if (cells_) cells_->restart();
  fill_start(model_, kernels_, precision, stream, 0, particles_, state_[0]);
  for (std::size_t i = 0; i < dynamics_.tangents; ++i)
    std::fill_n(state_[0][dynamics_.dimension + i], state_[0].rows(), 0.0);
}

void Cloud::take_sums(const Frame& frame) {
  for (std::size_t i = 0; i < moments_.size(); ++i) moments_[i] = frame.sum(i) / static_cast<double>(particles_);
}

// stage_inputs_ are those of the stage; only the windows are read.
void Cloud::run_measure(double t, const Columns& at, std::span<double* const> carried) {
  uniforms_.assign(1, t);
  uniforms_.insert(uniforms_.end(), stage_inputs_.begin(), stage_inputs_.end());
  measure_.set_uniforms(uniforms_);
  measure_.clear_sums();
  std::vector<const double*> in(dynamics_.dimension + dynamics_.tangents);
  for (std::size_t c = 0; c < in.size(); ++c) in[c] = at[c];
  measure_.over(particles_, in, carried);
  take_sums(measure_);
}

std::optional<std::vector<Range>> Cloud::windows(std::size_t stage, const Columns& at, const Windows& how) const {
  std::vector<Range> ranges;
  for (const Window& w : dynamics_.field.windows) {
    const double* x = at[w.component];
    const auto [low, high] = std::minmax_element(x, x + particles_);
    if (how.given) {
      const double* inputs = how.given + stage * dynamics_.inputs();
      const Range range{inputs[w.center_input], 1 / inputs[w.center_input + 1]};
      if (*low < range.center - range.half || *high > range.center + range.half) return std::nullopt;
      ranges.push_back(range);
    } else {
      ranges.push_back(window_for(*low, *high, how.margin));
    }
  }
  return ranges;
}

// The inputs of a stage whose points are `at`, into their places.
LawStatus Cloud::expand(std::size_t stage, const Columns& at, const Windows& how, double t) {
  const auto ranges = windows(stage, at, how);
  if (!ranges) return LawStatus::rank_too_low;
  for (std::size_t w = 0; w < ranges->size(); ++w) {
    const std::size_t to = dynamics_.field.windows[w].center_input;
    stage_inputs_[to] = (*ranges)[w].center, stage_inputs_[to + 1] = 1 / (*ranges)[w].half;
  }
  if (stage == 0 && !measured_) {
    std::vector<double*> carried;
    for (std::size_t k = 0; k < dynamics_.carried; ++k)
      carried.push_back(state_[now_][dynamics_.dimension + dynamics_.tangents + k]);
    run_measure(t, at, carried);
  } else if (stage > 0 && !dynamics_.fused) {
    run_measure(t, at, {});
  }
  const LawStatus status = expander_.inputs(*ranges, moments_, stage_inputs_, stage_tangents_);
  const std::size_t n = dynamics_.inputs();
  const auto place = [&](std::size_t p) { return static_cast<std::ptrdiff_t>((p * dynamics_.stages + stage) * n); };
  std::ranges::copy(stage_inputs_, inputs_.begin() + place(0));
  for (std::size_t p = 0; p < parameters(); ++p)
    std::copy_n(stage_tangents_.begin() + static_cast<std::ptrdiff_t>(p * n), n, tangents_.begin() + place(p));
  return status;
}

// What the drift reads of the law at one stage: inputs, then tangents.
void Cloud::append_stage(std::size_t stage, std::vector<double>& to) const {
  const std::size_t n = dynamics_.inputs();
  const auto append = [&](const std::vector<double>& from, std::size_t p) {
    const auto at = from.begin() + static_cast<std::ptrdiff_t>((p * dynamics_.stages + stage) * n);
    to.insert(to.end(), at, at + static_cast<std::ptrdiff_t>(n));
  };
  append(inputs_, 0);
  for (std::size_t p = 0; p < parameters(); ++p) append(tangents_, p);
}

// The slopes of a stage, and where that leads: moments, or the points themselves.
void Cloud::run_stage(std::size_t stage, const StepTime& step) {
  const std::size_t d = dynamics_.dimension + dynamics_.tangents;
  Frame& frame = stages_[stage];
  uniforms_.assign({step.t, step.flow});
  append_stage(stage, uniforms_);
  frame.set_uniforms(uniforms_);
  frame.clear_sums();
  in_.clear(), out_.clear();
  for (std::size_t c = 0; c < d; ++c) in_.push_back(state()[c]);
  for (std::size_t c = 0; c < stage * d; ++c) in_.push_back(slopes_[c]);
  std::as_const(xi_).append_to(in_);
  for (std::size_t c = 0; c < d; ++c) out_.push_back(slopes_[stage * d + c]);
  point_.append_to(out_);
  frame.over(particles_, in_, out_);
  if (dynamics_.fused) take_sums(frame);
}

LawStatus Cloud::measure_stages(const StepTime& step, const Windows& how) {
  if (step.flow == 0) {  // all stages are where the first one is, at no cost
    stand_still();
    return LawStatus::good;
  }
  if (cells_)
    if (const LawStatus status = average_by_cells(step.t); status != LawStatus::good) return status;
  if (pair_ && !stages_.empty()) pairwise(step.t);
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    run_stage(i, step);
    const double t = step.t + dynamics_.shares[i + 1] * step.flow;
    if (const LawStatus status = expand(i + 1, point_, how, t); status != LawStatus::good) return status;
  }
  return LawStatus::good;
}

void Cloud::stand_still() {
  for (auto* values : {&inputs_, &tangents_}) {
    const std::size_t n = dynamics_.inputs(), all = n * dynamics_.stages;
    for (std::size_t at = 0; at < values->size(); at += n)
      if (at % all != 0) std::copy_n(values->data() + at - n, n, values->data() + at);
  }
}

void Cloud::pairwise(double t) {
  Columns& now = state_[now_];
  const std::size_t d = dynamics_.dimension + dynamics_.tangents;
  std::vector<const double*> others(d), own(d);
  std::vector<double*> means(xi_.count());
  for (std::size_t c = 0; c < d; ++c) others[c] = now[c];
  for_blocks(particles_, [&](std::size_t first, std::size_t n) {
    for (std::size_t c = 0; c < d; ++c) own[c] = now[c] + first;
    for (std::size_t k = 0; k < means.size(); ++k) means[k] = xi_[k] + first;
    pairwise_means(*pair_, t, {others, particles_}, own, means, n, kernels_);
  });
}

LawStatus Cloud::average_by_cells(double t) {
  std::vector<const double*> own;
  for (std::size_t c = 0; c < dynamics_.dimension + dynamics_.tangents; ++c) own.push_back(state()[c]);
  if (cell_moments_.use_count() != 1) cell_moments_ = std::make_shared<CellMoments>();  // the last ones were kept
  const bool first = !cells_->started();
  if (!cells_->measure(t, own, particles_, *cell_moments_)) return LawStatus::rank_too_low;
  if (first && cell_choice_ == CellChoice::by_cost) {
    const double pairs = static_cast<double>(particles_) * static_cast<double>(particles_) * dynamics_.pair->cost();
    if (pairs < cells_->cost()) return LawStatus::rank_too_low;
  }
  std::vector<double*> means;
  xi_.append_to(means);
  return cells_->read(*cell_moments_, t, own, means, particles_, true) ? LawStatus::good : LawStatus::rank_too_low;
}

void Cloud::advance(std::size_t k, const StepTime& step, double next_t, NoiseSource& noise) {
  const bool flows = step.flow != 0;
  const std::size_t d = dynamics_.dimension + dynamics_.tangents;
  Frame& frame = flows ? advance_ : noise_;
  if (flows) {
    if (pair_ && stages_.empty()) pairwise(step.t);
    uniforms_.assign({step.t, step.flow, step.root(), next_t});
    append_stage(dynamics_.stages - 1, uniforms_);
  } else {
    uniforms_.assign({step.t, step.root()});
  }
  frame.set_uniforms(uniforms_);
  frame.clear_sums();

  Columns &from = state_[now_], &to = state_[1 - now_];
  in_.clear(), out_.clear();
  for (std::size_t c = 0; c < (flows ? from.count() : d); ++c) in_.push_back(from[c]);
  if (flows) std::as_const(slopes_).append_to(in_), std::as_const(xi_).append_to(in_);
  for (std::size_t c = 0; c < (flows ? dynamics_.advance : dynamics_.advance_noise).outputs(); ++c)
    out_.push_back(to[c]);
  frame.over(particles_, in_, out_, dynamics_.sources,
             [&](std::size_t j, std::size_t first) { return noise.block(k, j, first); });
  now_ = 1 - now_;
  measured_ = dynamics_.fused;
  if (measured_) take_sums(frame);
}

bool Cloud::finite() const {
  double lanes[kLanes] = {};
  for (std::size_t c = 0; c < dynamics_.dimension; ++c) kernels_.sum(state()[c], particles_, lanes);
  return std::ranges::all_of(lanes, [](double v) { return std::isfinite(v); });
}
}  // namespace mckean
