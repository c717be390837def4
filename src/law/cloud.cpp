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

Cloud::Cloud(const Model& model, const Dynamics& dynamics, std::size_t particles, const Kernels& kernels)
    : model_(model),
      dynamics_(dynamics),
      kernels_(kernels),
      particles_(particles),
      measure_(dynamics.measure, kernels),
      advance_(dynamics.advance, kernels),
      expander_(dynamics, kernels) {
  const std::size_t columns = dynamics.dimension + dynamics.tangents + dynamics.carried;
  const std::size_t parameters = dynamics.tangents ? dynamics.dynamic.size() : 0;
  for (Columns& s : state_) s = Columns(columns, particles);
  xi_ = Columns(dynamics.field.pairwise.size() * (1 + parameters), particles);
  if (dynamics.pair) pair_.emplace(*dynamics.pair, kernels);
  moments_.resize(dynamics.moments() * (1 + parameters));
  inputs_.resize(dynamics.inputs());
  tangents_.resize(dynamics.inputs() * parameters);
}

void Cloud::set_parameters(std::span<const double> theta) {
  measure_.set_fixed(theta);
  advance_.set_fixed(theta);
  if (pair_) pair_->set_fixed(theta);
  expander_.set_parameters(theta);
}

void Cloud::start(const Stream& stream, NormalPrecision precision) {
  now_ = 0;
  measured_ = false;
  fill_start(model_, kernels_, precision, stream, 0, particles_, state_[0]);
  for (std::size_t i = 0; i < dynamics_.tangents; ++i)
    std::fill_n(state_[0][dynamics_.dimension + i], state_[0].rows(), 0.0);
}

void Cloud::take_sums(const Frame& frame, std::size_t first) {
  for (std::size_t i = 0; i < moments_.size(); ++i)
    moments_[i] = frame.sum(first + i) / static_cast<double>(particles_);
}

void Cloud::run_measure(double t) {
  uniforms_.assign(1, t);
  uniforms_.insert(uniforms_.end(), inputs_.begin(), inputs_.end());
  measure_.set_uniforms(uniforms_);
  measure_.clear_sums();
  Columns& now = state_[now_];
  const std::size_t d = dynamics_.dimension + dynamics_.tangents;
  std::vector<const double*> in(d);
  std::vector<double*> out(dynamics_.carried);
  for (std::size_t c = 0; c < in.size(); ++c) in[c] = now[c];
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = now[d + k];
  measure_.over(particles_, in, out);
  take_sums(measure_, 0);
}

std::optional<std::vector<Range>> Cloud::windows(double margin, const double* given) const {
  std::vector<Range> ranges;
  for (const Window& w : dynamics_.field.windows) {
    const double* x = state()[w.component];
    const auto [low, high] = std::minmax_element(x, x + particles_);
    if (given) {
      const Range range{given[w.center_input], 1 / given[w.center_input + 1]};
      if (*low < range.center - range.half || *high > range.center + range.half) return std::nullopt;
      ranges.push_back(range);
    } else {
      ranges.push_back(window_for(*low, *high, margin));
    }
  }
  return ranges;
}

LawStatus Cloud::measure(double t, double margin, const double* given) {
  const auto ranges = windows(margin, given);
  if (!ranges) return LawStatus::rank_too_low;
  for (std::size_t w = 0; w < ranges->size(); ++w) {
    const std::size_t at = dynamics_.field.windows[w].center_input;
    inputs_[at] = (*ranges)[w].center, inputs_[at + 1] = 1 / (*ranges)[w].half;
  }
  if (!measured_) run_measure(t);
  return expander_.inputs(*ranges, moments_, inputs_, tangents_);
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

void Cloud::advance(std::size_t k, const StepTime& step, double next_t, NoiseSource& noise) {
  if (pair_) pairwise(step.t);
  uniforms_.resize(4 + inputs_.size() + tangents_.size());
  uniforms_[0] = step.t, uniforms_[1] = step.flow, uniforms_[2] = step.root(), uniforms_[3] = next_t;
  std::ranges::copy(tangents_, std::ranges::copy(inputs_, uniforms_.begin() + 4).out);
  advance_.set_uniforms(uniforms_);
  advance_.clear_sums();

  Columns &from = state_[now_], &to = state_[1 - now_];
  in_.clear();
  from.append_to(in_);
  xi_.append_to(in_);
  out_.resize(dynamics_.advance.outputs());
  for (std::size_t c = 0; c < out_.size(); ++c) out_[c] = to[c];
  advance_.over(particles_, in_, out_, dynamics_.sources,
                [&](std::size_t j, std::size_t first) { return noise.block(k, j, first); });
  now_ = 1 - now_;
  measured_ = dynamics_.fused;
  if (measured_) take_sums(advance_, 0);
}

bool Cloud::finite() const {
  double lanes[kLanes] = {};
  for (std::size_t c = 0; c < dynamics_.dimension; ++c) kernels_.sum(state()[c], particles_, lanes);
  return std::ranges::all_of(lanes, [](double v) { return std::isfinite(v); });
}
}  // namespace mckean
