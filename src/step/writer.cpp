#include "step/writer.hpp"

#include <algorithm>
#include <cmath>

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

// factor · e with the factor multiplied into the terms of a sum, so that an Euler step is one linear combination. Sums
// that are used more than once stay whole. Safe here because the result is added to x, whose rounding is no smaller.
class Distributed {
 public:
  explicit Distributed(Expr root) : root_(root) {
    for (const Expr e : reachable(std::span(&root, 1)))
      for (std::size_t i = 0; i < e.arity(); ++i) ++uses_[e.operand(i).id()];
  }
  Expr operator()(Expr factor) { return over(factor, root_); }

 private:
  Expr over(Expr factor, Expr e) {
    if (e != root_ && uses_[e.id()] > 1) return factor * e;
    switch (e.op()) {
      case Op::add:
        return over(factor, e.operand(0)) + over(factor, e.operand(1));
      case Op::sub:
        return over(factor, e.operand(0)) - over(factor, e.operand(1));
      case Op::neg:
        return -over(factor, e.operand(0));
      case Op::mul:
        for (std::size_t i = 0; i < 2; ++i)
          if (!e.operand(i).has(Kind::state | Kind::column)) return over(factor * e.operand(i), e.operand(1 - i));
        return factor * e;
      default:
        return factor * e;
    }
  }

  Expr root_;
  std::unordered_map<std::uint32_t, std::size_t> uses_;
};
}  // namespace

Writer::Writer(const Model& model, const MeanField& field, const std::vector<std::size_t>& parameters)
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
  t_ = model.time(), flow_ = uniform("flow", 0), variance_ = uniform("variance", 0), root_ = uniform("root", 0);
  next_t_ = uniform("next_t", 0);

  next_x_ = euler_step();
  for (std::size_t p = 0; p < parameters_; ++p)
    for (const Expr d : differentiate(next_x_, seeds(p))) next_s_.push_back(d);
  measured_ = field.moments;
  for (std::size_t p = 0; p < parameters_; ++p)
    for (const Expr d : differentiate(field.moments, seeds(p))) measured_.push_back(d);
}

// Costly subexpressions of the state alone that both the step and the moments need: computed where a
// particle arrives, used again where it leaves from.
void Writer::carry() {
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

ProgramSpec Writer::measure() const {
  return {model_.parameter_symbols(), join({t_}, field_.inputs), join(x_, s_), carried_, measured_};
}

ProgramSpec Writer::advance(bool fused) const {
  ProgramSpec spec{model_.parameter_symbols(),
                   join({t_, flow_, root_, next_t_}, field_.inputs, dm_),
                   join(x_, s_, carry_columns_, xi_, dxi_, z_),
                   join(next_x_, next_s_),
                   {}};
  if (!fused) return spec;
  Substitution arrive{{t_.id(), next_t_}};
  for (std::size_t c = 0; c < x_.size(); ++c) arrive.emplace(x_[c].id(), next_x_[c]);
  for (std::size_t i = 0; i < s_.size(); ++i) arrive.emplace(s_[i].id(), next_s_[i]);
  for (const Expr e : substitute(carried_, arrive)) spec.outputs.push_back(e);
  for (const Expr e : substitute(measured_, arrive)) spec.sums.push_back(e);
  return spec;
}

ProgramSpec Writer::move() const {
  return {model_.parameter_symbols(), join({t_, flow_, root_}, field_.inputs), join(x_, xi_, z_), euler_step(), {}};
}

// with_own: the particle's own tangent enters (it belongs to the law), else it stands still.
ProgramSpec Writer::pair(bool with_own) const {
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
  return {model_.parameter_symbols(), join({t_}, others, other_s), with_own ? join(x_, s_) : x_, outputs, {}};
}

// The same kernels with the roles exchanged.
ProgramSpec Writer::pair_sum() const {
  const ProgramSpec many = pair(false);
  return {many.fixed, join({t_}, x_), {many.uniforms.begin() + 1, many.uniforms.end()}, {}, many.outputs};
}

ProgramSpec Writer::kernel(const Expansion& e) const {
  std::vector<Expr> outputs{e.kernel};
  for (std::size_t p = 0; p < parameters_; ++p) outputs.push_back(differentiate(e.kernel, theta_[p]));
  return {model_.parameter_symbols(), {e.other}, {e.own}, outputs, {}};
}

Expr Writer::column(const char* name, std::size_t i) const {
  return graph_.symbol({Kind::column, name, static_cast<int>(i)});
}
Expr Writer::uniform(const char* name, std::size_t i) const {
  return graph_.symbol({Kind::uniform, name, static_cast<int>(i)});
}

std::vector<Expr> Writer::drift() const {
  std::vector<Expr> a;
  for (const auto& c : model_.components()) a.push_back(substitute(c.drift, field_.replace));
  return a;
}

// x + a(x) Δ + σ(x) √Δ z
std::vector<Expr> Writer::euler_step() const {
  std::vector<Expr> next;
  const std::vector<Expr> a = drift();
  for (std::size_t c = 0; c < x_.size(); ++c) {
    next.push_back(x_[c] + Distributed(a[c])(flow_));
    for (std::size_t j = 0; j < z_.size(); ++j)
      next.back() = next.back() + (root_ * model_.components()[c].diffusion[j]) * z_[j];
  }
  return next;
}

// x_{k+1} − x_k − a(x_k) Δ of the components with noise; the other components carry no information.
std::vector<Expr> Writer::residual() const {
  std::vector<Expr> r;
  const std::vector<Expr> a = drift();
  for (std::size_t c = 0; c < x_.size(); ++c)
    if (model_.components()[c].noisy) r.push_back((to_[c] - x_[c]) - a[c] * flow_);
  return r;
}

ProgramSpec Writer::replay() const {
  return {model_.parameter_symbols(),
          {},
          join(x_, std::vector{t_, flow_, root_}, field_.inputs, xi_, z_),
          euler_step(),
          {}};
}

// −½ rᵀ (Δ Σ)⁻¹ r − ½ log det Σ, up to a constant
ProgramSpec Writer::transition() const {
  const Whitening whitening(model_);
  const std::vector<Expr> r = whitening(residual());
  const Expr log_density = -0.5 * (whitening.product(r, r) / variance_) - 0.5 * whitening.log_determinant();
  return {
      model_.parameter_symbols(), join({t_, flow_, variance_}, field_.inputs, to_), join(x_, xi_), {log_density}, {}};
}

// gᵀ Σ⁻¹ (x_{k+1} − x_k − a Δ) for each parameter, then Δ gᵀ Σ⁻¹ g for each pair p <= q.
ProgramSpec Writer::score() const {
  const Whitening whitening(model_);
  const std::vector<Expr> r = whitening(residual()), a = drift();
  std::vector<std::vector<Expr>> g;
  for (std::size_t p = 0; p < parameters_; ++p) {
    Substitution rate = seeds(p);
    for (const Expr x : x_) rate.erase(x.id());  // the path stands still
    const std::vector<Expr> slopes = differentiate(a, rate);
    std::vector<Expr> noisy;
    for (std::size_t c = 0; c < x_.size(); ++c)
      if (model_.components()[c].noisy) noisy.push_back(slopes[c]);
    g.push_back(whitening(noisy));
  }
  std::vector<Expr> sums;
  for (std::size_t p = 0; p < parameters_; ++p) sums.push_back(whitening.product(g[p], r));
  for (std::size_t p = 0; p < parameters_; ++p)
    for (std::size_t q = p; q < parameters_; ++q) sums.push_back(flow_ * whitening.product(g[p], g[q]));
  return {model_.parameter_symbols(),
          {},
          join(x_, to_, std::vector{t_, flow_, variance_}, field_.inputs, dm_, xi_, dxi_),
          {},
          sums};
}

// How everything moves with parameter p.
Substitution Writer::seeds(std::size_t p) const {
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
