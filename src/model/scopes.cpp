#include "model/scopes.hpp"

namespace mckean {

void Scopes::add(Scope& scope, Kind::Bits kind, const std::string& name, bool vector, std::size_t size) const {
  Scope::Entry entry{spec_.graph->symbol({kind, name}), {}};
  for (std::size_t c = 0; vector && c < size; ++c)
    entry.components.push_back(size == 1 ? entry.whole : spec_.graph->symbol({kind, name, static_cast<int>(c)}));
  (kind == Kind::other_state ? scope.primed : scope.names)[name] = std::move(entry);
}

void Scopes::add_constants(Scope& scope) const {
  for (const auto& c : spec_.constants) add(scope, Kind::constant, c.name, c.vector, c.values.size());
}

void Scopes::add_states(Scope& scope, Kind::Bits kind) const {
  for (const auto& s : spec_.states) add(scope, kind, s.name, s.vector, s.start.size());
}

void Scopes::add_parameters(Scope& scope) const {
  for (const auto& p : spec_.parameters) add(scope, Kind::parameter, p.name, false, 1);
}

void Scopes::bar(Scope& scope, const char* section, const std::string& why) const {
  for (const std::string& name : file_.keys(section)) scope.barred[name] = why;
}

// States, constants and time: what every expression of the dynamics may use.
Scope Scopes::common() const {
  Scope scope;
  add_constants(scope);
  add_states(scope, Kind::state);
  scope.names["t"] = {spec_.graph->symbol({Kind::time, "t"}), {}};
  scope.no_primes = "primed states, the other particle, belong in [interaction]";
  bar(scope, "observation", "an observed value belongs in [observation] only");
  return scope;
}

Scope Scopes::start() const {
  Scope scope;
  add_constants(scope);
  scope.no_primes = "a start is made of numbers and constants";
  for (const char* section : {"state", "parameters", "interaction", "observation"})
    bar(scope, section, scope.no_primes);
  return scope;
}

Scope Scopes::interaction() const {
  Scope scope = common();
  add_parameters(scope);
  add_states(scope, Kind::other_state);
  scope.no_primes.clear();
  bar(scope, "interaction", "an interaction must not refer to an interaction; write its formula out");
  return scope;
}

Scope Scopes::drift() const {
  Scope scope = common();
  add_parameters(scope);
  for (const std::string& name : file_.keys("interaction")) add(scope, Kind::interaction, name, false, 1);
  return scope;
}

Scope Scopes::diffusion() const {
  Scope scope = common();
  bar(scope, "parameters",
      "the diffusion cannot contain a parameter, since paths with different diffusions have no common density; make it "
      "a constant");
  bar(scope, "interaction", "the diffusion must not depend on the law; use states, constants and t");
  return scope;
}

Scope Scopes::observation() const {
  Scope scope = common();
  add_parameters(scope);
  bar(scope, "interaction", "an observation must not depend on the law; use states, parameters, constants and t");
  return scope;
}
}  // namespace mckean
