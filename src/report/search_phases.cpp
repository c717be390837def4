#include "report/search_phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace mckean::report {
namespace {

struct Name {
  std::string text;
  Phase::Kind kind;
};

// From the name of a group of tasks: search/search.cpp, explore.cpp and rounds.cpp give them.
Name name_of(const std::string& group) {
  using enum Phase::Kind;
  std::istringstream words(group);
  std::string kind, number, what;
  words >> kind;
  if (kind == "start" || kind == "elsewhere" || kind == "level") words >> number;
  if (kind == "start") return {"start " + number, climb};
  if (kind == "level") return {"again from the best", climb};
  if (kind == "comparison") return {"comparison of starts", check};
  if (kind == "steps") return {"choice of the level", check};
  if (kind == "height") return {"comparison of maxima", check};
  const std::string where = kind == "elsewhere" ? fmt::format(", maximum {}", number) : "";
  words >> what;
  if (what == "round") return {"rounds" + where, near_top};
  if (what == "noise" || what == "sample") return {"samples" + where, near_top};
  if (what == "finer") return {"trial" + where, near_top};
  return {kind, check};
}

// Samples of different levels or laws are different phases; a population may change its level on the way.
bool same(const Phase& phase, const Name& name, const Effort& e) {
  if (phase.name != name.text) return false;
  return name.kind != Phase::Kind::near_top ||
         (phase.most.level == e.level && (name.text != "trial" || phase.most.law_particles == e.law_particles));
}

void add(const search::Record& r, Phase& phase) {
  const Effort& e = r.point.effort;
  if (phase.evaluations++ == 0) phase.least = phase.most = e;
  phase.least = {.level = std::min(phase.least.level, e.level),
                 .scheme = e.scheme,
                 .particles = std::min(phase.least.particles, e.particles),
                 .law_particles = std::min(phase.least.law_particles, e.law_particles)};
  phase.most = {.level = std::max(phase.most.level, e.level),
                .scheme = e.scheme,
                .particles = std::max(phase.most.particles, e.particles),
                .law_particles = std::max(phase.most.law_particles, e.law_particles)};
  if (e.temper < 1) ++phase.tempered;
  if (!r.value.loglik) ++phase.failed;
  if (const auto l = plain_loglik(r)) phase.best = std::max(*l, phase.best.value_or(*l));
}
}  // namespace

std::optional<double> plain_loglik(const search::Record& r) {
  return r.point.effort.temper == 1 ? r.value.loglik : std::nullopt;
}

Phases phases(const std::vector<Evaluation>& evaluations) {
  Phases out;
  for (const Evaluation& e : evaluations) {
    const Name name = name_of(e.group);
    auto at = std::ranges::find_if(out.phases, [&](const Phase& p) { return same(p, name, e.record.point.effort); });
    if (at == out.phases.end()) {
      at = out.phases.emplace(at);
      at->name = name.text, at->kind = name.kind;
    }
    add(e.record, *at);
    out.of.push_back(static_cast<std::size_t>(at - out.phases.begin()));
  }
  return out;
}
}  // namespace mckean::report
