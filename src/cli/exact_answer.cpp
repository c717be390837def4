#include "cli/exact_answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/running.hpp"
#include "mckean/error.hpp"
#include "mckean/likelihood.hpp"

namespace mckean::cli {
namespace {

// Options that mean something to particles alone.
constexpr const char* kOfParticles[] = {"--particles", "--law-particles", "--repeats",  "--iterations",   "--burn-in",
                                        "--chains",    "--smoother",      "--gradient", "--full-normals", "--proposal"};

std::string first_of_particles(const Arguments& o) {
  for (const char* flag : kOfParticles)
    if (o.given.contains(flag)) return flag;
  return "";
}

std::unique_ptr<const Engine> exact_engine(const Arguments& o, const Problem& problem, Wanted wanted) {
  const std::string engine_asked = asked_engine(o);
  if (engine_asked == "particles") return nullptr;
  const bool asked = engine_asked != "auto";
  for (const EngineKind& kind : engine_kinds()) {
    if (asked ? o.engine != kind.name : kind.refuses(problem).has_value()) continue;
    auto engine = make_engine(kind.name, problem, {.seed = o.seed});
    if (!engine->exact()) return nullptr;
    if (wanted != Wanted::states || engine->smooths()) return engine;
    if (asked) throw InputError(fmt::format("--engine {} has no smoothed states; use particles", o.engine));
  }
  return nullptr;
}

Effort asked_steps(const Arguments& o) {
  return {.level = *o.level, .scheme = o.scheme == "splitting" ? Scheme::splitting : Scheme::euler};
}

Evaluation value_of(const Engine& engine, const Problem& problem, const Arguments& o, Order order, Run& run) {
  const std::vector<double> theta = problem.model().start_values();
  if (!o.given.contains("--level")) return in_continuous_time(engine, theta, order, run.runner());
  const Outcome found = engine.at(theta, order, {}, {.effort = asked_steps(o)});
  if (!found) throw NumericalError(found.failure().message);
  return *found;
}

States states_of(const Engine& engine, const Problem& problem, const Effort& effort) {
  const auto found = engine.states_at(problem.model().start_values(), {.effort = effort});
  if (!found) throw NumericalError(found.failure().message);
  return *found;
}
}  // namespace

std::string asked_engine(const Arguments& o) {
  const std::string flag = first_of_particles(o);
  if (flag.empty()) return o.engine;
  if (o.engine != "auto" && o.engine != "particles")
    throw InputError(fmt::format("--engine {} has no particles: leave out {}", o.engine, flag));
  return "particles";
}

std::string steps_text(std::optional<int> level, const std::vector<int>& extrapolated) {
  if (level) return fmt::format("level {}", *level);
  if (extrapolated.empty()) return "continuous time";
  return fmt::format("continuous time from levels {} to {}", extrapolated.front(), extrapolated.back());
}

nlohmann::ordered_json ExactAnswer::settings(const Arguments& o) const {
  nlohmann::ordered_json out = {{"engine", engine},         {"scheme", nullptr},   {"level", nullptr},
                                {"levels", value.levels},   {"proposal", nullptr}, {"particles", nullptr},
                                {"law_particles", nullptr}, {"repeats", nullptr},  {"seed", o.seed}};
  if (level) out["scheme"] = name_of(asked_steps(o).scheme), out["level"] = *level;
  return out;
}

std::optional<ExactAnswer> exact_answer(const Arguments& o, const Problem& problem, Wanted wanted, World& world) {
  const auto engine = exact_engine(o, problem, wanted);
  if (!engine) return {};
  ExactAnswer out{std::string(engine->name()), {}, {}, {}};
  if (o.given.contains("--level")) out.level = *o.level;
  const Order order = wanted == Wanted::gradient ? Order::information : Order::value;
  try {
    out.value = without_store(world, o, [&](Run& run) { return value_of(*engine, problem, o, order, run); });
    if (wanted != Wanted::states) return out;
    const std::vector<int>& levels = out.value.levels;
    out.states = states_of(
        *engine, problem, out.level ? asked_steps(o) : continuous_effort(*engine, levels.empty() ? 0 : levels.front()));
    return out;
  } catch (const NumericalError&) {
    if (o.engine != "auto") throw;
    return {};
  }
}
}  // namespace mckean::cli
