#include "engine/particles/forecaster.hpp"

#include <algorithm>

namespace mckean {

Forecaster::Forecaster(std::shared_ptr<const Ahead> ahead, const Grid& grid, const Kernels& kernels)
    : ahead_(std::move(ahead)),
      grid_(grid),
      kernels_(kernels),
      launch_(ahead_->launch, kernels),
      spread_(ahead_->spread, kernels),
      flow_(ahead_->flow, kernels),
      carry_(ahead_->carry, kernels) {}

void Forecaster::set_law(const LawPath& law, std::span<const double> theta) {
  law_ = &law;
  if (dynamics_ != law.dynamics) {
    dynamics_ = law.dynamics;
    pair_.reset();
    if (dynamics_->read_pair) pair_.emplace(*dynamics_, kernels_);
  }
  for (Frame* f : {&launch_, &spread_, &flow_, &carry_}) f->set_fixed(theta);
  if (pair_) pair_->set_parameters(theta);
}

void Forecaster::read_pairs(std::size_t k, const Columns& x, std::size_t n) {
  if (!pair_) return;
  if (xi_.rows() < n) xi_ = Columns(dynamics_->field.pairwise.size(), n);
  if (!pair_->many(*law_, k, grid_.step[k].t, x, n, xi_)) report_unreadable(grid_.step[k].t);
  std::as_const(xi_).append_to(in_);
}

void Forecaster::depart(std::size_t k, const Columns& x, std::size_t n, Columns& to) {
  const StepTime& step = grid_.step[k];
  const std::size_t d = ahead_->dimension;
  in_.clear(), out_.clear();
  for (std::size_t c = 0; c < d; ++c) in_.push_back(x[c]);
  to.append_to(out_);
  if (step.flow == 0) {
    for (std::size_t c = 0; c < d; ++c) std::copy_n(x[c], n, to[c]);
    spread_.set_uniforms(std::array{step.t, step.root()});
    return spread_.over(n, in_, std::span(out_).subspan(d));
  }
  read_pairs(k, x, n);
  uniforms_.assign({step.t, step.flow, step.root()});
  law_->append_inputs(k, uniforms_);
  launch_.set_uniforms(uniforms_);
  launch_.over(n, in_, out_);
}

const Columns& Forecaster::carry(std::size_t from, std::size_t to, const Columns& at, std::size_t n) {
  return travel(carry_, columns(), from, to, at, n);
}

const Columns& Forecaster::flow(std::size_t from, std::size_t to, const Columns& at, std::size_t n) {
  return travel(flow_, ahead_->dimension, from, to, at, n);
}

const Columns& Forecaster::travel(Frame& frame, std::size_t columns, std::size_t from, std::size_t to,
                                  const Columns& at, std::size_t n) {
  for (Columns& w : way_)
    if (w.rows() < n) w = Columns(this->columns(), n);
  const Columns* now = &at;
  for (std::size_t k = from; k < to; ++k) {
    const StepTime& step = grid_.step[k];
    if (step.flow == 0) continue;
    Columns& next = now == &way_[0] ? way_[1] : way_[0];
    in_.clear(), out_.clear();
    for (std::size_t c = 0; c < columns; ++c) in_.push_back((*now)[c]), out_.push_back(next[c]);
    read_pairs(k, *now, n);
    uniforms_.assign({step.t, step.flow});
    law_->append_inputs(k, uniforms_);
    frame.set_uniforms(uniforms_);
    frame.over(n, in_, out_);
    now = &next;
  }
  return *now;
}
}  // namespace mckean
