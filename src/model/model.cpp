#include "mckean/model.hpp"

#include <fmt/format.h>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>

#include "model/density.hpp"
#include "model/lower.hpp"

namespace mckean {
namespace {

std::size_t size_or_throw(Lowering& lower, Expr e, const std::string& section, const std::string& key) {
  const std::size_t n = lower.size(e);
  if (n == 0)
    throw SpecError(
        section, key,
        fmt::format("vectors of different sizes meet: {}; reduce one with mean(…) or sum(…), or pick a component",
                    lower.clash()));
  return n;
}

// A vector expression fits where as many components are wanted; a scalar fits everywhere.
void require_size(Lowering& lower, Expr e, std::size_t wanted, const std::string& section, const std::string& key) {
  const std::size_t n = size_or_throw(lower, e, section, key);
  if (n != 1 && n != wanted)
    throw SpecError(section, key,
                    fmt::format("the expression has {} components, but '{}' has {}; reduce it with mean(…) or sum(…), "
                                "or pick a component",
                                n, key, wanted));
}

template <class List>
const auto& entry_of(const List& list, const std::string& section, const std::string& state) {
  const auto at = std::ranges::find_if(list, [&](const auto& item) { return item.first == state; });
  if (at == list.end())
    throw SpecError(section, state,
                    fmt::format("the {} of '{}' is missing; add a line {} = \"…\" to [{}]{}", section, state, state,
                                section, section == "diffusion" ? " (0 for a component without noise)" : ""));
  return at->second;
}

std::string indexed(const std::string& name, std::size_t size, std::size_t c) {
  return size == 1 ? name : fmt::format("{}[{}]", name, c + 1);
}

void forbid(Expr e, unsigned kinds, const std::string& section, const std::string& key, const std::string& why) {
  if (e.has(kinds)) throw SpecError(section, key, why);
}

void check_noise(const Component& c, const std::string& state) {
  for (const Expr e : c.diffusion)
    forbid(e, Kind::parameter, "diffusion", state,
           fmt::format(
               "the diffusion of '{}' contains a parameter; paths with different diffusions have no common density, so "
               "it cannot be estimated: make it a constant",
               c.name));
  if (c.noisy) return;
  forbid(c.drift, Kind::parameter | Kind::interaction, "drift", state,
         fmt::format(
             "'{}' has no noise, so its drift may contain neither a parameter nor an interaction; give it a diffusion, "
             "or move them to a component with noise",
             c.name));
}

// σ at the start must be finite, and its noisy rows independent.
void check_diffusion_at_start(const std::vector<Component>& components, std::size_t sources, bool diagonal, Expr time) {
  std::unordered_map<std::uint32_t, double> at{{time.id(), 0.0}};
  for (const auto& c : components) at[c.symbol.id()] = c.start;
  std::vector<Eigen::VectorXd> directions;  // of the rows so far, each less what it shares with those before it
  std::size_t noisy = 0;
  for (const auto& c : components) {
    if (!c.noisy) continue;
    Eigen::VectorXd row(static_cast<Eigen::Index>(sources));
    for (std::size_t j = 0; j < sources; ++j) {
      const double v = evaluate(c.diffusion[j], at);
      if (!std::isfinite(v))
        throw SpecError(
            "diffusion", c.name,
            fmt::format("the diffusion of '{}' is {} at the start; change its formula, or start elsewhere", c.name,
                        std::isnan(v) ? "not a number"
                        : v > 0       ? "inf"
                                      : "-inf"));
      row[static_cast<Eigen::Index>(j)] = v;
    }
    if (row.norm() == 0)
      throw SpecError(
          "diffusion", c.name,
          fmt::format("the diffusion of '{}' is 0 at the start, so it is singular there; write 0 for a component that "
                      "never has noise, or start elsewhere",
                      c.name));
    ++noisy;
    if (diagonal) continue;  // rows that share no source are independent
    row.normalize();
    for (int again = 0; again < 2; ++again)
      for (const Eigen::VectorXd& d : directions) row -= row.dot(d) * d;
    if (row.norm() < 1e-12)
      throw SpecError("diffusion", c.name,
                      "the diffusion matrix is singular at the start: the rows of components with noise are linearly "
                      "dependent; give each a noise of its own, or a row of zeros");
    directions.push_back(row.normalized());
  }
  if (noisy == 0)
    throw SpecError("diffusion", "", "no component has noise; give at least one a diffusion other than 0");
}
}  // namespace

Model::Model(ModelSpec spec) : spec_(std::move(spec)) {
  Lowering lower(spec_);
  time_ = spec_.time();
  for (const auto& p : spec_.parameters) parameter_symbols_.push_back(graph().parameter(p.name));
  if (spec_.states.empty()) throw SpecError("state", "", "the model has no state; add a section [state]");
  if (spec_.observations.empty())
    throw SpecError("observation", "", "the model has no observation; add a section [observation]");

  for (const auto& [name, kernel] : spec_.interactions) {
    forbid(kernel, Kind::interaction, "interaction", name,
           fmt::format(
               "'{}' refers to an interaction; an interaction is an average of states, parameters and constants only",
               name));
    const std::size_t n = size_or_throw(lower, kernel, "interaction", name);
    lower.declare_interaction(name, n);
    for (std::size_t c = 0; c < n; ++c)
      interactions_.push_back({indexed(name, n, c),
                               graph().symbol({Kind::interaction, name, n == 1 ? -1 : static_cast<int>(c)}),
                               lower.component(kernel, c)});
  }

  std::size_t dimension = 0;
  for (const auto& s : spec_.states) dimension += s.start.size();
  const Expr zero = graph().number(0);
  for (const auto& s : spec_.states) {
    const std::size_t n = s.start.size();
    const Expr drift = entry_of(spec_.drifts, "drift", s.name);
    const auto& diffusion = entry_of(spec_.diffusions, "diffusion", s.name);
    const bool diagonal = diffusion.size() == 1 && diffusion[0].size() == 1;
    require_size(lower, drift, n, "drift", s.name);
    for (std::size_t c = 0; c < n; ++c) {
      Component k{indexed(s.name, n, c),
                  graph().symbol({Kind::state, s.name, n == 1 ? -1 : static_cast<int>(c)}),
                  s.start[c],
                  s.start_sd[c],
                  lower.component(drift, c),
                  std::vector(dimension, zero),
                  false};
      forbid(k.drift, Kind::other_state, "drift", s.name, "a primed state belongs in [interaction] only");
      for (std::size_t j = 0; j < dimension; ++j) {
        if (diagonal && j != components_.size()) continue;
        const Expr e = diagonal ? diffusion[0][0] : diffusion[c][j];
        require_size(lower, e, diagonal ? n : 1, "diffusion", s.name);
        k.diffusion[j] = lower.component(e, c);
        k.noisy = k.noisy || !k.diffusion[j].is_number(0);
        if (j != components_.size() && !k.diffusion[j].is_number(0)) diagonal_ = false;
      }
      forbid(drift, Kind::observed, "drift", s.name, "observed values belong in [observation] only");
      check_noise(k, s.name);
      components_.push_back(std::move(k));
    }
  }

  // Sources of noise that nothing feels are dropped.
  std::vector<std::size_t> felt;
  for (std::size_t j = 0; j < dimension; ++j)
    if (std::ranges::any_of(components_, [&](const auto& c) { return !c.diffusion[j].is_number(0); }))
      felt.push_back(j);
  for (auto& c : components_) {
    std::vector<Expr> row;
    for (const std::size_t j : felt) row.push_back(c.diffusion[j]);
    c.diffusion = std::move(row);
  }
  noise_sources_ = felt.size();
  check_diffusion_at_start(components_, noise_sources_, diagonal_, time_);

  for (const auto& [name, density] : spec_.observations) {
    std::size_t n = 1;
    std::vector<Expr> parts = density.arguments;
    if (density.distribution == Distribution::custom) parts = {density.log_density};
    for (const Expr e : parts) n = std::max(n, size_or_throw(lower, e, "observation", name));
    for (const Expr e : parts) {
      require_size(lower, e, n, "observation", name);
      forbid(e, Kind::interaction | Kind::other_state, "observation", name,
             "an observation depends on the state, parameters and constants, not on interactions or primed states");
    }
    for (std::size_t c = 0; c < n; ++c) {
      ObservedColumn column{indexed(name, n, c),
                            graph().symbol({Kind::observed, name, n == 1 ? -1 : static_cast<int>(c)}),
                            {},
                            density.distribution,
                            {}};
      for (const Expr e : density.arguments) column.arguments.push_back(lower.component(e, c));
      const Substitution own{{graph().symbol({Kind::observed, name}).id(), column.symbol}};
      column.log_density = density.distribution == Distribution::custom
                               ? substitute(lower.component(density.log_density, c), own)
                               : log_density(density.distribution, column.symbol, column.arguments);
      columns_.push_back(column.name);
      observed_.push_back(std::move(column));
    }
  }
  graph().freeze();
}

Model Model::copy() const {
  Model out = *this;
  out.spec_.graph = spec_.graph->copy();
  const auto own = [&](Expr& e) {
    if (e) e = e.in(out.graph());
  };
  const auto all = [&](std::vector<Expr>& list) { std::ranges::for_each(list, own); };
  for (auto& [name, e] : out.spec_.interactions) own(e);
  for (auto& [name, e] : out.spec_.drifts) own(e);
  for (auto& [name, rows] : out.spec_.diffusions) std::ranges::for_each(rows, all);
  for (auto& [name, density] : out.spec_.observations) all(density.arguments), own(density.log_density);
  all(out.parameter_symbols_);
  for (Component& c : out.components_) own(c.symbol), own(c.drift), all(c.diffusion);
  for (Interaction& i : out.interactions_) own(i.symbol), own(i.kernel);
  for (ObservedColumn& y : out.observed_) own(y.symbol), own(y.log_density), all(y.arguments);
  own(out.time_);
  return out;
}

std::vector<double> Model::start_values() const {
  std::vector<double> theta;
  for (const auto& p : parameters()) theta.push_back(p.start);
  return theta;
}
}  // namespace mckean
