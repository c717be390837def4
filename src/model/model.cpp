#include "mckean/model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/density.hpp"
#include "model/diffusion.hpp"
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

std::vector<Interaction> interactions_of(const ModelSpec& spec, Lowering& lower) {
  std::vector<Interaction> out;
  for (const auto& [name, kernel] : spec.interactions) {
    forbid(kernel, Kind::interaction, "interaction", name,
           fmt::format(
               "'{}' refers to an interaction; an interaction is an average of states, parameters and constants only",
               name));
    const std::size_t n = size_or_throw(lower, kernel, "interaction", name);
    lower.declare_interaction(name, n);
    for (std::size_t c = 0; c < n; ++c)
      out.push_back({indexed(name, n, c),
                     spec.graph->symbol({Kind::interaction, name, n == 1 ? -1 : static_cast<int>(c)}),
                     lower.component(kernel, c)});
  }
  return out;
}

// With one source of noise for each component.
std::vector<Component> components_of(const ModelSpec& spec, Lowering& lower) {
  std::vector<Component> out;
  std::size_t dimension = 0;
  for (const auto& s : spec.states) dimension += s.start.size();
  const Expr zero = spec.graph->number(0);
  for (const auto& s : spec.states) {
    const std::size_t n = s.start.size();
    const Expr drift = entry_of(spec.drifts, "drift", s.name);
    const auto& diffusion = entry_of(spec.diffusions, "diffusion", s.name);
    const bool diagonal = diffusion.size() == 1 && diffusion[0].size() == 1;
    require_size(lower, drift, n, "drift", s.name);
    for (std::size_t c = 0; c < n; ++c) {
      Component k{indexed(s.name, n, c),
                  spec.graph->symbol({Kind::state, s.name, n == 1 ? -1 : static_cast<int>(c)}),
                  s.start[c],
                  s.start_sd[c],
                  lower.component(drift, c),
                  std::vector(dimension, zero),
                  false};
      forbid(k.drift, Kind::other_state, "drift", s.name, "a primed state belongs in [interaction] only");
      for (std::size_t j = 0; j < dimension; ++j) {
        if (diagonal && j != out.size()) continue;
        const Expr e = diagonal ? diffusion[0][0] : diffusion[c][j];
        require_size(lower, e, diagonal ? n : 1, "diffusion", s.name);
        k.diffusion[j] = lower.component(e, c);
        k.noisy = k.noisy || !k.diffusion[j].is_number(0);
      }
      forbid(drift, Kind::observed, "drift", s.name, "observed values belong in [observation] only");
      check_noise(k, s.name);
      out.push_back(std::move(k));
    }
  }
  return out;
}

std::vector<ObservedColumn> observed_columns(const ModelSpec& spec, Lowering& lower) {
  std::vector<ObservedColumn> out;
  for (const auto& [name, density] : spec.observations) {
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
                            spec.graph->symbol({Kind::observed, name, n == 1 ? -1 : static_cast<int>(c)}),
                            {},
                            density.distribution,
                            {}};
      for (const Expr e : density.arguments) column.arguments.push_back(lower.component(e, c));
      const Substitution own{{spec.graph->symbol({Kind::observed, name}).id(), column.symbol}};
      column.log_density = density.distribution == Distribution::custom
                               ? substitute(lower.component(density.log_density, c), own)
                               : log_density(density.distribution, column.symbol, column.arguments);
      out.push_back(std::move(column));
    }
  }
  return out;
}
}  // namespace

Model::Model(ModelSpec spec) : spec_(std::move(spec)) {
  Lowering lower(spec_);
  time_ = spec_.time();
  for (const auto& p : spec_.parameters) parameter_symbols_.push_back(graph().parameter(p.name));
  if (spec_.states.empty()) throw SpecError("state", "", "the model has no state; add a section [state]");
  if (spec_.observations.empty())
    throw SpecError("observation", "", "the model has no observation; add a section [observation]");

  interactions_ = interactions_of(spec_, lower);
  components_ = components_of(spec_, lower);
  diagonal_ = is_diagonal(components_);
  noise_sources_ = drop_unfelt_sources(components_);
  check_diffusion_at_start(components_, noise_sources_, diagonal_, time_);
  observed_ = observed_columns(spec_, lower);
  for (const ObservedColumn& column : observed_) columns_.push_back(column.name);
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
