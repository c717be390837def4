#include "step/derivation.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

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
    : model_(model),
      field_(field),
      graph_(model.graph()),
      parameters_(parameters.size()),
      inputs_{field.inputs},
      dm_(1) {
  for (const auto& c : model.components()) x_.push_back(c.symbol), to_.push_back(column("next", to_.size()));
  for (std::size_t j = 0; j < model.noise_sources(); ++j) z_.push_back(column("z", j));
  for (std::size_t p = 0; p < parameters_; ++p) {
    theta_.push_back(model.parameter_symbols()[parameters[p]]);
    for (std::size_t c = 0; c < x_.size(); ++c) s_.push_back(column("S", s_.size()));
    for (std::size_t k = 0; k < field.pairwise.size(); ++k) dxi_.push_back(column("dxi", dxi_.size()));
    for (std::size_t i = 0; i < field.inputs.size(); ++i) dm_[0].push_back(uniform("dm", dm_[0].size()));
  }
  for (const auto& p : field.pairwise) xi_.push_back(p.column);
  time_ = StepSymbols(model);
  step_ = make_step(model, field);
  add_stages();

  next_x_ = next_state(step_.rate);
  next_s_ = tangents_of(next_x_);
  measured_ = join(field.moments, tangents_of(field.moments));
}

// The averages of further stages, and the rate as an expression of x and all of them.
void Derivation::add_stages() {
  for (std::size_t i = 1; i < stages(); ++i) {
    const std::string number = std::to_string(i + 1);
    inputs_.emplace_back(), dm_.emplace_back();
    for (std::size_t k = 0; k < field_.inputs.size(); ++k) inputs_[i].push_back(uniform(("m" + number).c_str(), k));
    for (std::size_t k = 0; k < dm_[0].size(); ++k) dm_[i].push_back(uniform(("dm" + number).c_str(), k));
    slope_tangents_.emplace_back();
    for (std::size_t k = 0; k < parameters_ * x_.size(); ++k)
      slope_tangents_.back().push_back(column(("dslope" + number).c_str(), k));
  }
  rate_ = stages() == 1 ? step_.rate : substitute(step_.rate, closing(stages() - 1));
}

// What turns expressions of a stage into those of x alone: slopes in place of their symbols, and its own averages.
Substitution Derivation::closing(std::size_t stage) const {
  Substitution out;
  for (std::size_t i = 0; i < stage; ++i) {
    const std::vector<Expr> slope = substitute(step_.stages[i].slope, closing(i));
    for (std::size_t c = 0; c < x_.size(); ++c) out.emplace(step_.stages[i].symbol[c].id(), slope[c]);
  }
  for (std::size_t k = 0; k < field_.inputs.size() && stage > 0; ++k)
    out.emplace(field_.inputs[k].id(), inputs_[stage][k]);
  return out;
}

std::vector<Expr> Derivation::tangents_of(const std::vector<Expr>& of) const {
  std::vector<Expr> out;
  for (std::size_t p = 0; p < parameters_; ++p)
    for (const Expr d : differentiate(of, seeds(p))) out.push_back(d);
  return out;
}

// Costly subexpressions of the state alone that both the step and the moments need: computed where a
// particle arrives, used again where it leaves from.
void Derivation::carry() {
  std::vector<Expr> step = join(next_x_, next_s_);
  const std::vector<Expr> in_step = reachable(step);
  assert(stages() == 1);
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

Substitution Derivation::arriving(Expr t, const std::vector<Expr>& x, const std::vector<Expr>& s) const {
  Substitution arrive{{time_.t.id(), t}};
  for (std::size_t c = 0; c < x_.size(); ++c) arrive.emplace(x_[c].id(), x[c]);
  for (std::size_t i = 0; i < s_.size(); ++i) arrive.emplace(s_[i].id(), s[i]);
  return arrive;
}

// The slope of stage i and the moments at the next one's points.
ProgramSpec Derivation::stage(std::size_t i, bool fused) const {
  ProgramSpec spec{model_.parameter_symbols(),
                   join({time_.t, time_.flow}, field_.inputs, dm_[0]),
                   join(x_, s_),
                   join(step_.stages[i].slope, tangents_of(step_.stages[i].slope)),
                   {}};
  for (std::size_t j = 0; j < i; ++j) spec.columns = join(spec.columns, step_.stages[j].symbol, slope_tangents_[j]);
  spec.columns = join(spec.columns, xi_, dxi_);
  Substitution slope;
  for (std::size_t c = 0; c < x_.size(); ++c) slope.emplace(step_.stages[i].symbol[c].id(), step_.stages[i].slope[c]);
  const Step::Stage& next = step_.stages[i + 1];
  const std::vector<Expr> point = substitute(next.point, slope), tangent = tangents_of(point);
  if (fused)
    spec.sums = substitute(measured_, arriving(time_.t + next.share * time_.flow, point, tangent));
  else
    spec.outputs = join(spec.outputs, point, tangent);
  return spec;
}

ProgramSpec Derivation::advance(bool fused) const {
  std::vector<Expr> slopes;
  for (std::size_t i = 0; i + 1 < stages(); ++i) slopes = join(slopes, step_.stages[i].symbol, slope_tangents_[i]);
  ProgramSpec spec{model_.parameter_symbols(),
                   join({time_.t, time_.flow, time_.root, time_.next_t}, field_.inputs, dm_[0]),
                   join(x_, s_, carry_columns_, slopes, xi_, dxi_, z_),
                   join(next_x_, next_s_),
                   {}};
  if (!fused) return spec;
  const Substitution arrive = arriving(time_.next_t, next_x_, next_s_);
  for (const Expr e : substitute(carried_, arrive)) spec.outputs.push_back(e);
  for (const Expr e : substitute(measured_, arrive)) spec.sums.push_back(e);
  return spec;
}

ProgramSpec Derivation::advance_noise(bool fused) const {
  const std::vector<Expr> next = next_by_noise(), tangent = tangents_of(next);
  ProgramSpec spec{model_.parameter_symbols(), {time_.t, time_.root}, join(x_, s_, z_), join(next, tangent), {}};
  if (fused) spec.sums = substitute(measured_, arriving(time_.t, next, tangent));
  return spec;
}

ProgramSpec Derivation::move() const {
  return {model_.parameter_symbols(),
          join({time_.t, time_.flow, time_.root}, all_inputs()),
          join(x_, xi_, z_),
          join(next_state(rate_), window_points()),
          {}};
}

ProgramSpec Derivation::move_noise() const {
  return {model_.parameter_symbols(), {time_.t, time_.root}, join(x_, z_), next_by_noise(), {}};
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

std::vector<Expr> Derivation::all_inputs() const {
  std::vector<Expr> out;
  for (const auto& stage : inputs_) out = join(out, stage);
  return out;
}

// Parameter by parameter.
std::vector<Expr> Derivation::all_input_tangents() const {
  const std::size_t n = field_.inputs.size();
  std::vector<Expr> out;
  for (std::size_t p = 0; p < parameters_; ++p)
    for (const auto& stage : dm_)
      for (std::size_t k = 0; k < n; ++k) out.push_back(stage[p * n + k]);
  return out;
}

// σ where a step at this rate adds its noise.
std::vector<std::vector<Expr>> Derivation::sigma_after(const std::vector<Expr>& rate) const {
  if (!step_.sigma_on_arrival) return step_.sigma;
  std::vector<Expr> point;
  for (std::size_t c = 0; c < x_.size(); ++c) point.push_back(x_[c] + time_.flow * rate[c]);
  std::vector<std::vector<Expr>> out;
  for (const auto& row : step_.sigma) out.push_back(substitute(row, arriving(time_.t + time_.flow, point, s_)));
  return out;
}

// point + √variance σ z of component c
Expr Derivation::with_noise(Expr point, const std::vector<Expr>& sigma) const {
  for (std::size_t j = 0; j < z_.size(); ++j) point = point + (time_.root * sigma[j]) * z_[j];
  return point;
}

// x + flow · rate + √variance σ z
std::vector<Expr> Derivation::next_state(const std::vector<Expr>& rate) const {
  const auto sigma = sigma_after(rate);
  std::vector<Expr> next;
  for (std::size_t c = 0; c < x_.size(); ++c)
    next.push_back(with_noise(x_[c] + distribute(time_.flow, rate[c]), sigma[c]));
  return next;
}

// x + √variance σ z
std::vector<Expr> Derivation::next_by_noise() const {
  std::vector<Expr> next;
  for (std::size_t c = 0; c < x_.size(); ++c) next.push_back(with_noise(x_[c], step_.sigma[c]));
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
  return noisy([&](std::size_t c) { return (to_[c] - x_[c]) - rate_[c] * time_.flow; });
}

ProgramSpec Derivation::replay() const {
  return {model_.parameter_symbols(),
          {},
          join(x_, std::vector{time_.t, time_.flow, time_.root}, all_inputs(), xi_, z_),
          next_state(rate_),
          {}};
}

// −½ rᵀ (variance Σ)⁻¹ r − ½ log det Σ, up to a constant
Expr Derivation::log_density() const {
  const Whitening whitening(model_, sigma_after(rate_));
  const std::vector<Expr> r = whitening(residual());
  return -0.5 * (whitening.product(r, r) / time_.variance) - 0.5 * whitening.log_determinant();
}

ProgramSpec Derivation::transition() const {
  return {model_.parameter_symbols(),
          join({time_.t, time_.flow, time_.variance}, all_inputs(), to_),
          join(x_, xi_),
          {log_density()},
          {}};
}

// The derivatives of the log density by each parameter, and with g = ∂rate/∂θ at fixed x its information
// flow² gᵀ (variance Σ)⁻¹ g for each pair p <= q. Where Σ does not move with θ, the former are
// flow gᵀ (variance Σ)⁻¹ r.
ProgramSpec Derivation::score() const {
  const Whitening whitening(model_, sigma_after(rate_));
  const std::vector<Expr> r = whitening(residual());
  std::vector<std::vector<Expr>> g;
  for (std::size_t p = 0; p < parameters_; ++p) {
    const std::vector<Expr> slopes = differentiate(rate_, seeds_of_law(p));
    g.push_back(whitening(noisy([&](std::size_t c) { return slopes[c]; })));
  }
  const Expr ratio = step_.flow_per_variance;
  std::vector<Expr> sums;
  for (std::size_t p = 0; p < parameters_; ++p)
    sums.push_back(step_.sigma_on_arrival ? differentiate(std::vector{log_density()}, seeds_of_law(p))[0]
                                          : ratio * whitening.product(g[p], r));
  for (std::size_t p = 0; p < parameters_; ++p)
    for (std::size_t q = p; q < parameters_; ++q) sums.push_back((time_.flow * ratio) * whitening.product(g[p], g[q]));
  return {
      model_.parameter_symbols(),
      {},
      join(x_, to_, std::vector{time_.t, time_.flow, time_.variance}, all_inputs(), all_input_tangents(), xi_, dxi_),
      window_points(),
      sums};
}

// Where a noise-free component moves with a parameter at fixed x, a path would have no density for both of two values.
bool Derivation::centred_score() const {
  for (std::size_t p = 0; p < parameters_; ++p) {
    const std::vector<Expr> slopes = differentiate(rate_, seeds_of_law(p));
    for (std::size_t c = 0; c < x_.size(); ++c)
      if (!model_.components()[c].noisy && !slopes[c].is_number(0)) return false;
  }
  return true;
}

// The later stages' points, of components on whose range something is expanded.
std::vector<Expr> Derivation::window_points() const {
  std::vector<Expr> out;
  for (std::size_t i = 1; i < stages(); ++i)
    for (const Window& w : field_.windows) out.push_back(substitute(step_.stages[i].point[w.component], closing(i)));
  return out;
}

// How the law moves with parameter p, and the path stands still.
Substitution Derivation::seeds_of_law(std::size_t p) const {
  Substitution rate = seeds(p);
  for (const Expr x : x_) rate.erase(x.id());
  return rate;
}

// How everything moves with parameter p.
Substitution Derivation::seeds(std::size_t p) const {
  const std::size_t n = field_.inputs.size();
  Substitution rate{{theta_[p].id(), graph_.number(1)}};
  for (std::size_t c = 0; c < x_.size(); ++c) rate.emplace(x_[c].id(), s_[p * x_.size() + c]);
  for (std::size_t stage = 0; stage < inputs_.size(); ++stage)
    for (std::size_t i = 0; i < n; ++i) rate.emplace(inputs_[stage][i].id(), dm_[stage][p * n + i]);
  for (std::size_t k = 0; k < xi_.size(); ++k) rate.emplace(xi_[k].id(), dxi_[p * xi_.size() + k]);
  for (std::size_t i = 0; i < slope_tangents_.size(); ++i)
    for (std::size_t c = 0; c < x_.size(); ++c)
      rate.emplace(step_.stages[i].symbol[c].id(), slope_tangents_[i][p * x_.size() + c]);
  for (const auto& w : field_.windows)  // windows are where we look, not what we see
    for (const auto& stage : inputs_) {
      rate.erase(stage[w.center_input].id());
      rate.erase(stage[w.center_input + 1].id());
    }
  return rate;
}
}  // namespace mckean
