#include "step/derivation.hpp"

#include <algorithm>
#include <cmath>

#include "step/distribute.hpp"
#include "step/whitening.hpp"

namespace mckean {
namespace {

template <class... Lists>
std::vector<Expr> join(std::vector<Expr> first, const Lists&... rest) {
  (first.insert(first.end(), rest.begin(), rest.end()), ...);
  return first;
}

bool is_costly(Expr e) {
  switch (e.op()) {
    case Op::pow:
      return !(e.operand(1).is_number() && e.operand(1).value() == std::trunc(e.operand(1).value()));
    case Op::number:
    case Op::symbol:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::neg:
    case Op::min:
    case Op::max:
    case Op::abs:
    case Op::relu:
    case Op::select:
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
    case Op::sign:
      return false;
    default:
      return true;
  }
}
}  // namespace

Derivation::Derivation(const Model& model, const MeanField& field, const std::vector<std::size_t>& parameters,
                       StepMaker make_step)
    : model_(model), field_(field), graph_(model.graph()), parameters_(parameters.size()) {
  for (const auto& c : model.components()) x_.push_back(c.symbol), to_.push_back(column("next", to_.size()));
  for (std::size_t j = 0; j < model.noise_sources(); ++j) z_.push_back(column("z", j));
  for (std::size_t p = 0; p < parameters_; ++p) {
    theta_.push_back(model.parameter_symbols()[parameters[p]]);
    for (std::size_t c = 0; c < x_.size(); ++c) s_.push_back(column("S", s_.size()));
    for (std::size_t k = 0; k < field.pairwise.size(); ++k) dxi_.push_back(column("dxi", dxi_.size()));
    for (std::size_t i = 0; i < field.inputs.size(); ++i) dm_.push_back(uniform("dm", dm_.size()));
  }
  for (const auto& p : field.pairwise) xi_.push_back(p.column);
  time_ = StepSymbols(model);
  step_ = make_step(model, field);

  next_x_ = next_state();
  for (std::size_t p = 0; p < parameters_; ++p)
    for (const Expr d : differentiate(next_x_, seeds(p))) next_s_.push_back(d);
  measured_ = field.moments;
  for (std::size_t p = 0; p < parameters_; ++p)
    for (const Expr d : differentiate(field.moments, seeds(p))) measured_.push_back(d);
}

// Costly subexpressions of the state alone that both the step and the moments need: computed where a
// particle arrives, used again where it leaves from.
void Derivation::carry() {
  std::vector<Expr> step = join(next_x_, next_s_);
  const std::vector<Expr> in_step = reachable(step);
  const unsigned changing = Kind::time | Kind::uniform | Kind::column;
  std::vector<Expr> shared;
  Substitution stored;
  for (const Expr e : reachable(measured_))
    if (is_costly(e) && e.has(Kind::state) && !e.has(changing) &&
        std::ranges::binary_search(in_step, e.id(), {}, &Expr::id)) {
      stored.emplace(e.id(), column("carry", shared.size()));
      shared.push_back(e);
    }
  next_x_ = substitute(next_x_, stored);
  next_s_ = substitute(next_s_, stored);
  step = join(next_x_, next_s_);
  const std::vector<Expr> still = reachable(step);
  for (const Expr e : shared)  // not those inside a larger one
    if (const Expr c = stored.at(e.id()); std::ranges::binary_search(still, c.id(), {}, &Expr::id))
      carried_.push_back(e), carry_columns_.push_back(c);
}

ProgramSpec Derivation::measure() const {
  return {model_.parameter_symbols(), join({time_.t}, field_.inputs), join(x_, s_), carried_, measured_};
}

ProgramSpec Derivation::advance(bool fused) const {
  ProgramSpec spec{model_.parameter_symbols(),
                   join({time_.t, time_.flow, time_.root, time_.next_t}, field_.inputs, dm_),
                   join(x_, s_, carry_columns_, xi_, dxi_, z_),
                   join(next_x_, next_s_),
                   {}};
  if (!fused) return spec;
  Substitution arrive{{time_.t.id(), time_.next_t}};
  for (std::size_t c = 0; c < x_.size(); ++c) arrive.emplace(x_[c].id(), next_x_[c]);
  for (std::size_t i = 0; i < s_.size(); ++i) arrive.emplace(s_[i].id(), next_s_[i]);
  for (const Expr e : substitute(carried_, arrive)) spec.outputs.push_back(e);
  for (const Expr e : substitute(measured_, arrive)) spec.sums.push_back(e);
  return spec;
}

ProgramSpec Derivation::move() const {
  return {model_.parameter_symbols(),
          join({time_.t, time_.flow, time_.root}, field_.inputs),
          join(x_, xi_, z_),
          next_state(),
          {}};
}

// with_own: the particle's own tangent enters (it belongs to the law), else it stands still.
ProgramSpec Derivation::pair(bool with_own) const {
  std::vector<Expr> others, other_s, kernels;
  for (const Expr x : x_) others.push_back(other(x));
  for (std::size_t i = 0; i < s_.size(); ++i) other_s.push_back(uniform("S'", i));
  for (const auto& p : field_.pairwise) kernels.push_back(p.kernel);
  std::vector<Expr> outputs = kernels;
  for (std::size_t p = 0; p < parameters_; ++p) {
    Substitution rate{{theta_[p].id(), graph_.number(1)}};
    for (std::size_t c = 0; c < x_.size(); ++c) {
      if (with_own) rate.emplace(x_[c].id(), s_[p * x_.size() + c]);
      rate.emplace(others[c].id(), other_s[p * x_.size() + c]);
    }
    for (const Expr d : differentiate(kernels, rate)) outputs.push_back(d);
  }
  return {model_.parameter_symbols(), join({time_.t}, others, other_s), with_own ? join(x_, s_) : x_, outputs, {}};
}

// The same kernels with the roles exchanged.
ProgramSpec Derivation::pair_sum() const {
  const ProgramSpec many = pair(false);
  return {many.fixed, join({time_.t}, x_), {many.uniforms.begin() + 1, many.uniforms.end()}, {}, many.outputs};
}

ProgramSpec Derivation::kernel(const Expansion& e) const {
  std::vector<Expr> outputs{e.kernel};
  for (std::size_t p = 0; p < parameters_; ++p) outputs.push_back(differentiate(e.kernel, theta_[p]));
  return {model_.parameter_symbols(), {e.other}, {e.own}, outputs, {}};
}

Expr Derivation::column(const char* name, std::size_t i) const {
  return graph_.symbol({Kind::column, name, static_cast<int>(i)});
}
Expr Derivation::uniform(const char* name, std::size_t i) const {
  return graph_.symbol({Kind::uniform, name, static_cast<int>(i)});
}

// x + flow · rate + √variance σ z
std::vector<Expr> Derivation::next_state() const {
  std::vector<Expr> next;
  for (std::size_t c = 0; c < x_.size(); ++c) {
    next.push_back(x_[c] + distribute(time_.flow, step_.rate[c]));
    for (std::size_t j = 0; j < z_.size(); ++j) next.back() = next.back() + (time_.root * step_.sigma[c][j]) * z_[j];
  }
  return next;
}

// The components with noise; the others carry no information.
template <class Value>
std::vector<Expr> Derivation::noisy(Value&& value) const {
  std::vector<Expr> out;
  for (std::size_t c = 0; c < x_.size(); ++c)
    if (model_.components()[c].noisy) out.push_back(value(c));
  return out;
}

// x' − x − flow · rate
std::vector<Expr> Derivation::residual() const {
  return noisy([&](std::size_t c) { return (to_[c] - x_[c]) - step_.rate[c] * time_.flow; });
}

ProgramSpec Derivation::replay() const {
  return {model_.parameter_symbols(),
          {},
          join(x_, std::vector{time_.t, time_.flow, time_.root}, field_.inputs, xi_, z_),
          next_state(),
          {}};
}

// −½ rᵀ (variance Σ)⁻¹ r − ½ log det Σ, up to a constant
ProgramSpec Derivation::transition() const {
  const Whitening whitening(model_, step_.sigma);
  const std::vector<Expr> r = whitening(residual());
  const Expr log_density = -0.5 * (whitening.product(r, r) / time_.variance) - 0.5 * whitening.log_determinant();
  return {model_.parameter_symbols(),
          join({time_.t, time_.flow, time_.variance}, field_.inputs, to_),
          join(x_, xi_),
          {log_density},
          {}};
}

// With g = ∂rate/∂θ at fixed x: flow gᵀ (variance Σ)⁻¹ r for each parameter, then flow² gᵀ (variance Σ)⁻¹ g for each
// pair p <= q.
ProgramSpec Derivation::score() const {
  const Whitening whitening(model_, step_.sigma);
  const std::vector<Expr> r = whitening(residual());
  std::vector<std::vector<Expr>> g;
  for (std::size_t p = 0; p < parameters_; ++p) {
    Substitution rate = seeds(p);
    for (const Expr x : x_) rate.erase(x.id());  // the path stands still
    const std::vector<Expr> slopes = differentiate(step_.rate, rate);
    g.push_back(whitening(noisy([&](std::size_t c) { return slopes[c]; })));
  }
  const Expr ratio = step_.flow_per_variance;
  std::vector<Expr> sums;
  for (std::size_t p = 0; p < parameters_; ++p) sums.push_back(ratio * whitening.product(g[p], r));
  for (std::size_t p = 0; p < parameters_; ++p)
    for (std::size_t q = p; q < parameters_; ++q) sums.push_back((time_.flow * ratio) * whitening.product(g[p], g[q]));
  return {model_.parameter_symbols(),
          {},
          join(x_, to_, std::vector{time_.t, time_.flow, time_.variance}, field_.inputs, dm_, xi_, dxi_),
          {},
          sums};
}

// How everything moves with parameter p.
Substitution Derivation::seeds(std::size_t p) const {
  Substitution rate{{theta_[p].id(), graph_.number(1)}};
  for (std::size_t c = 0; c < x_.size(); ++c) rate.emplace(x_[c].id(), s_[p * x_.size() + c]);
  for (std::size_t i = 0; i < field_.inputs.size(); ++i)
    rate.emplace(field_.inputs[i].id(), dm_[p * field_.inputs.size() + i]);
  for (std::size_t k = 0; k < xi_.size(); ++k) rate.emplace(xi_[k].id(), dxi_[p * xi_.size() + k]);
  for (const auto& w : field_.windows) {  // windows are where we look, not what we see
    rate.erase(field_.inputs[w.center_input].id());
    rate.erase(field_.inputs[w.center_input + 1].id());
  }
  return rate;
}
}  // namespace mckean
