#include "cli/exact_answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/running.hpp"
#include "infer/richardson.hpp"
#include "mckean/error.hpp"
#include "mckean/likelihood.hpp"

namespace mckean::cli {
namespace {

// Options that mean something to particles alone.
constexpr const char* kOfParticles[] = {"--particles",    "--law-particles", "--repeats",  "--iterations",
                                        "--burn-in",      "--chains",        "--smoother", "--gradient",
                                        "--full-normals", "--scheme",        "--proposal"};

std::string first_of_particles(const Arguments& o) {
  for (const char* flag : kOfParticles)
    if (o.given.contains(flag)) return flag;
  return "";
}

std::unique_ptr<const Engine> exact_engine(const Arguments& o, const Problem& problem, Wanted wanted) {
  const bool asked = o.engine != "auto";
  const std::string flag = first_of_particles(o);
  if (asked && o.engine != "particles" && !flag.empty())
    throw InputError(fmt::format("--engine {} has no particles: leave out {}", o.engine, flag));
  if (o.engine == "particles" || !flag.empty()) return nullptr;
  for (const EngineKind& kind : engine_kinds()) {
    if (asked ? o.engine != kind.name : kind.refuses(problem).has_value()) continue;
    auto engine = make_engine(kind.name, problem, {.seed = o.seed});
    if (!engine->exact()) return nullptr;
    if (wanted != Wanted::states || engine->smooths()) return engine;
    if (asked) throw InputError(fmt::format("--engine {} has no smoothed states; use particles", o.engine));
  }
  return nullptr;
}

ContinuousValue value_of(const Engine& engine, const Problem& problem, const Arguments& o, Order order, Run& run) {
  const std::vector<double> theta = problem.model().start_values();
  if (!o.given.contains("--level")) return in_continuous_time(engine, theta, order, run.runner());
  const Outcome found = engine.at(theta, order, {}, {.effort = {.level = *o.level}});
  if (!found) throw NumericalError(found.failure().message);
  return {*found, {}};
}

// At one level, or extrapolated from several as their likelihoods are.
States states_of(const Engine& engine, const Problem& problem, const std::vector<int>& levels) {
  States out;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const Request request{.effort = {.level = levels[l]}};
    const auto law = engine.law(problem.model().start_values(), {}, request);
    if (!law) throw NumericalError(law.failure().message);
    const auto found = engine.states(**law, request);
    if (!*found) throw NumericalError(found->failure().message);
    const double weight = levels.size() == 1 ? 1 : kRichardson[l];
    if (l == 0) out = **found;
    for (std::size_t s = 0; s < out.size(); ++s)
      for (std::size_t c = 0; c < out[s].size(); ++c)
        for (std::size_t row = 0; row < out[s][c].size(); ++row)
          for (double Smoothed::*v : {&Smoothed::mean, &Smoothed::sd, &Smoothed::q05, &Smoothed::q50, &Smoothed::q95}) {
            const double here = weight * ((**found)[s][c][row].*v);
            out[s][c][row].*v = l == 0 ? here : out[s][c][row].*v + here;
          }
  }
  return out;
}
}  // namespace

std::string ExactAnswer::steps() const {
  if (level) return fmt::format("level {}", *level);
  if (value.levels.empty()) return "continuous time";
  return fmt::format("continuous time from levels {} to {}", value.levels.front(), value.levels.back());
}

nlohmann::ordered_json ExactAnswer::settings(const Arguments& o) const {
  nlohmann::ordered_json out = {{"engine", engine},         {"scheme", nullptr},   {"level", nullptr},
                                {"levels", value.levels},   {"proposal", nullptr}, {"particles", nullptr},
                                {"law_particles", nullptr}, {"repeats", nullptr},  {"seed", o.seed}};
  if (level) out["scheme"] = "euler", out["level"] = *level;
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
    const std::vector<int> levels = out.level ? std::vector{*out.level} : out.value.levels;
    out.states = states_of(*engine, problem, levels.empty() ? std::vector{kContinuous} : levels);
    return out;
  } catch (const NumericalError&) {
    if (o.engine != "auto") throw;
    return {};
  }
}
}  // namespace mckean::cli
