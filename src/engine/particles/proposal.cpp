#include "engine/particles/proposal.hpp"

#include <algorithm>
#include <array>

namespace mckean {

PlainProposal::PlainProposal(const Grid& grid, std::size_t particles, const Kernels& kernels)
    : grid_(grid), kernels_(kernels), particles_(particles) {}

void PlainProposal::set_law(const LawPath& law, std::span<const double> theta) {
  law_ = &law;
  theta_.assign(theta.begin(), theta.end());
  if (dynamics_ != law.dynamics) {
    dynamics_ = law.dynamics;
    move_.emplace(dynamics_->move, kernels_);
    noise_.emplace(dynamics_->move_noise, kernels_);
    later_ = Columns(dynamics_->move.outputs() - dynamics_->dimension, particles_);
    replay_.reset();
    pair_.reset();
    if (dynamics_->read_pair) pair_.emplace(*dynamics_, kernels_);
    xi_ = Columns(dynamics_->field.pairwise.size(), particles_);
    lanes_ = Columns();
    own_.resize(dynamics_->dimension), one_xi_.resize(xi_.count());
  }
  move_->set_fixed(theta);
  noise_->set_fixed(theta);
  if (replay_) replay_->set_fixed(theta);
  if (pair_) pair_->set_parameters(theta);
}

LawStatus PlainProposal::propose(std::size_t k, const Columns& from, Columns& to, NoiseSource& noise) {
  const StepTime& step = grid_.step[k];
  if (step.flow == 0) return propose_noise(k, from, to, noise), LawStatus::good;
  uniforms_.assign({step.t, step.flow, step.root()});
  law_->append_inputs(k, uniforms_);
  if (!inside_windows(k, from)) return LawStatus::window_left;
  if (pair_ && !pair_->many(*law_, k, step.t, from, particles_, xi_)) return LawStatus::window_left;
  move_->set_uniforms(uniforms_);
  in_.clear(), out_.clear();
  from.append_to(in_);
  std::as_const(xi_).append_to(in_);
  to.append_to(out_);
  later_.append_to(out_);
  move_->over(particles_, in_, out_, dynamics_->sources,
              [&](std::size_t j, std::size_t first) { return noise.block(k, j, first); });
  const std::size_t windows = dynamics_->field.windows.size();
  for (std::size_t i = 0; i < later_.count(); ++i)
    if (!inside_window(k, 1 + i / windows, i % windows, later_[i])) return LawStatus::window_left;
  return LawStatus::good;
}

void PlainProposal::propose_noise(std::size_t k, const Columns& from, Columns& to, NoiseSource& noise) {
  noise_->set_uniforms(std::array{grid_.step[k].t, grid_.step[k].root()});
  in_.clear(), out_.clear();
  from.append_to(in_);
  to.append_to(out_);
  noise_->over(particles_, in_, out_, dynamics_->sources,
               [&](std::size_t j, std::size_t first) { return noise.block(k, j, first); });
}

bool PlainProposal::inside_windows(std::size_t k, const Columns& x) const {
  for (std::size_t w = 0; w < dynamics_->field.windows.size(); ++w)
    if (!inside_window(k, 0, w, x[dynamics_->field.windows[w].component])) return false;
  return true;
}

bool PlainProposal::inside_window(std::size_t k, std::size_t stage, std::size_t window, const double* x) const {
  const std::size_t at = stage * dynamics_->inputs() + dynamics_->field.windows[window].center_input;
  const auto [low, high] = std::minmax_element(x, x + particles_);
  const double center = law_->inputs[at][k], scale = law_->inputs[at + 1][k];
  return !((*high - center) * scale > 1 || (center - *low) * scale > 1);
}

// Everything but x and z that a step reads, into a row of lanes_.
void PlainProposal::place_lane(std::size_t lane, std::size_t k, const Columns& x) {
  const StepTime& step = grid_.step[k];
  const std::size_t inputs = law_->inputs.count();
  lanes_[0][lane] = step.t, lanes_[1][lane] = step.flow, lanes_[2][lane] = step.root();
  for (std::size_t u = 0; u < inputs; ++u) lanes_[3 + u][lane] = law_->inputs[u][k];
  if (!pair_) return;
  for (std::size_t c = 0; c < own_.size(); ++c) own_[c] = x[c][lane];
  pair_->one(*law_, k, step.t, own_, one_xi_);
  for (std::size_t p = 0; p < one_xi_.size(); ++p) lanes_[3 + inputs + p][lane] = one_xi_[p];
}

void PlainProposal::replay(std::span<const StepOfParticle> at, Columns& x, NoiseSource& noise) {
  const std::size_t n = at.size(), d = dynamics_->dimension, sources = dynamics_->sources;
  const std::size_t z_at = 3 + law_->inputs.count() + xi_.count(), out_at = z_at + sources;
  if (!replay_) replay_.emplace(dynamics_->replay, kernels_).set_fixed(theta_);
  if (lanes_.rows() < n || lanes_.count() == 0) lanes_ = Columns(out_at + d, n);
  for (std::size_t i = 0; i < n; ++i) place_lane(i, at[i].step, x);
  for (std::size_t j = 0; j < sources; ++j) noise.single(j, at, lanes_[z_at + j]);
  in_.clear(), out_.clear();
  std::as_const(x).append_to(in_);
  for (std::size_t c = 0; c < out_at; ++c) in_.push_back(lanes_[c]);
  for (std::size_t c = 0; c < d; ++c) out_.push_back(lanes_[out_at + c]);
  replay_->over(n, in_, out_);
  for (std::size_t c = 0; c < d; ++c) std::copy_n(lanes_[out_at + c], n, x[c]);
}
}  // namespace mckean
