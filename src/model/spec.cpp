// What a person writes: declarations, collected and checked one by one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "expr/functions.hpp"
#include "expr/parse.hpp"
#include "mckean/model.hpp"

namespace mckean {

ModelSpec::ModelSpec(std::string model_name) : name(std::move(model_name)), graph(std::make_shared<Graph>()) {}

namespace {

// A new name must be one, and must be new.
void declare(const ModelSpec& spec, const std::string& section, const std::string& name) {
  if (!is_name(name))
    throw SpecError(section, name,
                    fmt::format("'{}' is no name; use letters, digits and _, not starting with a digit", name));
  if (name == "series")
    throw SpecError(section, name, "'series' is the column of data files that tells series apart; choose another name");
  if (name == "t" || name == "pi" || find_function(name))
    throw SpecError(section, name, fmt::format("'{}' is a word of the language; choose another name", name));
  const auto clash = [&](const auto& list, const char* where, auto get) {
    for (const auto& item : list)
      if (get(item) == name)
        throw SpecError(section, name,
                        fmt::format("'{}' is declared already, in [{}]; choose another name", name, where));
  };
  clash(spec.states, "state", [](const auto& s) { return s.name; });
  clash(spec.parameters, "parameters", [](const auto& s) { return s.name; });
  clash(spec.constants, "constants", [](const auto& s) { return s.name; });
  clash(spec.interactions, "interaction", [](const auto& s) { return s.first; });
  clash(spec.observations, "observation", [](const auto& s) { return s.first; });
}

const StateSpec& state_of(const ModelSpec& spec, const std::string& section, const std::string& name) {
  const auto at = std::ranges::find(spec.states, name, &StateSpec::name);
  if (at == spec.states.end()) throw SpecError(section, name, fmt::format("there is no state '{}'", name));
  return *at;
}

template <class List>
void once(const List& list, const std::string& section, const std::string& name) {
  for (const auto& item : list)
    if (item.first == name) throw SpecError(section, name, fmt::format("{} of '{}' is given twice", section, name));
}
}  // namespace

Expr ModelSpec::state(const std::string& s, double start, double start_sd) {
  declare(*this, "state", s);
  states.push_back({s, false, {start}, {start_sd}});
  return graph->state(s);
}

Expr ModelSpec::vector_state(const std::string& s, std::vector<double> start, std::vector<double> start_sd) {
  declare(*this, "state", s);
  if (start.empty() || start.size() != start_sd.size())
    throw SpecError("state", s, "a vector needs at least one component, and as many standard deviations as starts");
  states.push_back({s, true, std::move(start), std::move(start_sd)});
  return graph->state(s);
}

Expr ModelSpec::parameter(Parameter p) {
  declare(*this, "parameters", p.name);
  if (!(p.lower < p.upper))
    throw SpecError("parameters", p.name,
                    fmt::format("the lower bound {} of '{}' is not below its upper bound {}; exchange or change them",
                                p.lower, p.name, p.upper));
  if (!std::isfinite(p.start) || !p.admits(p.start))
    throw SpecError("parameters", p.name,
                    fmt::format("the start {} of '{}' is not between its bounds {} and {}; move it inside", p.start,
                                p.name, p.lower, p.upper));
  parameters.push_back(p);
  return graph->parameter(p.name);
}

Expr ModelSpec::constant(const std::string& c, double value) {
  declare(*this, "constants", c);
  constants.push_back({c, false, {value}});
  return graph->symbol({Kind::constant, c});
}

Expr ModelSpec::vector_constant(const std::string& c, std::vector<double> values) {
  declare(*this, "constants", c);
  if (values.empty())
    throw SpecError("constants", c, fmt::format("the array '{}' is empty; give one entry for each component", c));
  constants.push_back({c, true, std::move(values)});
  return graph->symbol({Kind::constant, c});
}

Expr ModelSpec::interaction(const std::string& i, Expr kernel) {
  declare(*this, "interaction", i);
  interactions.emplace_back(i, kernel);
  return graph->symbol({Kind::interaction, i});
}

void ModelSpec::drift(const std::string& s, Expr e) {
  state_of(*this, "drift", s);
  once(drifts, "drift", s);
  drifts.emplace_back(s, e);
}

void ModelSpec::diffusion(const std::string& s, Expr e) {
  state_of(*this, "diffusion", s);
  once(diffusions, "diffusion", s);
  diffusions.push_back({s, {{e}}});
}

void ModelSpec::diffusion_rows(const std::string& s, std::vector<std::vector<Expr>> rows) {
  const std::size_t size = state_of(*this, "diffusion", s).start.size();
  once(diffusions, "diffusion", s);
  std::size_t all = 0;
  for (const auto& state : states) all += state.start.size();
  if (rows.size() != size)
    throw SpecError("diffusion", s,
                    fmt::format("the diffusion of '{}' has {} rows, but '{}' has {} components; give one for each", s,
                                rows.size(), s, size));
  for (const auto& row : rows)
    if (row.size() != all)
      throw SpecError("diffusion", s,
                      fmt::format("a row of the diffusion of '{}' has {} entries, but the state has {} in all; "
                                  "give one entry for each component",
                                  s, row.size(), all));
  diffusions.emplace_back(s, std::move(rows));
}

Expr ModelSpec::observed(const std::string& y) { return graph->symbol({Kind::observed, y}); }

void ModelSpec::observe(const std::string& y, Density d) {
  declare(*this, "observation", y);
  observations.emplace_back(y, std::move(d));
}

// As the states themselves name them.
namespace {
const std::string& name_of(const char* section, Expr state) {
  if (state.op() != Op::symbol || !state.has(Kind::state))
    throw SpecError(section, "", fmt::format("the {} of '{}': only a state has one", section, to_text(state)));
  return state.symbol().name;
}
}  // namespace

Expr ModelSpec::parameter(const std::string& parameter_name, double start) {
  return parameter(Parameter{parameter_name, start});
}
void ModelSpec::drift(Expr s, Expr e) { drift(name_of("drift", s), e); }
void ModelSpec::diffusion(Expr s, Expr e) { diffusion(name_of("diffusion", s), e); }
void ModelSpec::diffusion(Expr s, double value) { diffusion(s, number(value)); }

Density normal(Expr mean, Expr sd) { return {Distribution::normal, {mean, sd}, {}}; }
Density normal(Expr mean, double sd) { return normal(mean, mean.graph().number(sd)); }

Model ModelSpec::build() const { return Model(*this); }

Expr ModelSpec::time() { return graph->symbol({Kind::time, "t"}); }
}  // namespace mckean
