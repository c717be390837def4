#include "engine/quadrature/formulas.hpp"

#include <algorithm>
#include <cassert>

#include "engine/differentiator.hpp"

namespace mckean {
namespace {

std::vector<std::size_t> dynamic_first(const Model& model, std::size_t& dynamic) {
  std::vector<Expr> roots;
  for (const auto& c : model.components()) roots.push_back(c.drift);
  for (const auto& i : model.interactions()) roots.push_back(i.kernel);
  const auto nodes = reachable(roots);
  std::vector<std::size_t> order;
  for (std::size_t p = 0; p < model.parameters().size(); ++p) order.push_back(p);
  const auto rest = std::stable_partition(order.begin(), order.end(), [&](std::size_t p) {
    return std::ranges::find(nodes, model.parameter_symbols()[p]) != nodes.end();
  });
  dynamic = static_cast<std::size_t>(rest - order.begin());
  return order;
}

template <class... Lists>
std::vector<Expr> join(std::vector<Expr> first, const Lists&... rest) {
  (first.insert(first.end(), rest.begin(), rest.end()), ...);
  return first;
}

// Kernels as functions of d in place of x − x'; none where one is not such a function.
std::optional<std::vector<Expr>> of_difference(const std::vector<Expr>& kernels, Expr x, Expr d) {
  const Substitution replace{{(x - other(x)).id(), d}, {(other(x) - x).id(), -d}};
  std::vector<Expr> out;
  for (const Expr k : kernels) {
    out.push_back(substitute(k, replace));
    if (out.back().has(Kind::state) || out.back().has(Kind::other_state)) return {};
  }
  return out;
}

// s(x) at t = 0; 1 where it does not depend on x.
Expr scale_of(const Model& model, Expr sigma) {
  const Expr at_start = abs(substitute(sigma, {{model.time().id(), model.graph().number(0)}}));
  return at_start.has(Kind::state) ? at_start : model.graph().number(1);
}

// As `bell` in Formulas.
Program bell_program(const Model& model) {
  const auto column = [&](const char* name) { return model.graph().symbol({Kind::column, name, 0}); };
  const auto uniform = [&](const char* name) { return model.graph().symbol({Kind::uniform, name, 0}); };
  const Expr x = column("x"), w = column("w"), mean = uniform("mean"), inverse_sd = uniform("inverse_sd");
  const Expr z = (x - mean) * inverse_sd, b = w * inverse_sd * exp(-0.5 * z * z);
  return Program({{}, {mean, inverse_sd}, {x, w}, {b, b * z, b * (z * z - 1)}, {}});
}

std::vector<Expr> times(Expr factor, std::vector<Expr> list) {
  for (Expr& e : list) e = factor * e;
  return list;
}
}  // namespace

Formulas::Formulas(const Model& of, bool derivatives) : model(of.copy()), field(model, 0) {
  assert(model.dimension() == 1);
  if (derivatives) order = dynamic_first(model, dynamic);
  Graph& graph = model.graph();
  const auto& theta = model.parameter_symbols();
  const Component& state = model.components()[0];
  const StepSymbols time(model);
  const Expr x = state.symbol, t = time.t;
  const Expr mass = graph.symbol({Kind::column, "mass", 0});
  std::vector<Expr> xi, kernels;
  for (const auto& p : field.pairwise) xi.push_back(p.column), kernels.push_back(p.kernel);

  Differentiator law(model, order, dynamic);
  const auto inputs = law.moving(field.inputs, Kind::uniform, "m_jet");
  const auto xi_jets = law.moving(xi, Kind::column, "xi_jet");
  const auto masses = law.moving({mass}, Kind::column, "mass_jet");

  const Step euler = euler_step(model, field);
  const Expr mean = x + time.flow * euler.rate[0];
  step = Program({theta,
                  join({t, time.flow, time.root}, inputs),
                  join({x}, xi_jets),
                  join(law.jets({mean}), std::vector{abs(euler.sigma[0][0]) * time.root}),
                  {}});
  const Expr s = scale_of(model, euler.sigma[0][0]);
  if (s.has(Kind::state)) scale.emplace(ProgramSpec{{}, {}, {x}, {s, differentiate(s, x)}, {}});
  bell = bell_program(model);
  measure = Program({theta, {t}, join({x}, masses), {}, law.jets(times(mass, field.moments))});
  if (!kernels.empty()) {
    const Expr d = graph.symbol({Kind::column, "difference", 0});
    if (const auto differences = of_difference(kernels, x, d)) {
      const auto jets = law.jets(*differences);
      for (const Expr e : jets) difference_is_zero.push_back(e.is_number(0));
      difference.emplace(ProgramSpec{theta, {t}, {d}, jets, {}});
    }
    pair.emplace(ProgramSpec{theta, {t, x}, join({other(x)}, masses), {}, law.jets(times(mass, kernels))});
  }

  const Differentiator observation(model, order, order.size());
  for (const auto& y : model.observed()) {
    const Expr curvature = s * differentiate(s * differentiate(y.log_density, x), x);
    observe.emplace_back(
        ProgramSpec{theta, {t, y.symbol}, {x}, join(observation.jets({y.log_density}), std::vector{curvature}), {}});
  }
}
}  // namespace mckean
