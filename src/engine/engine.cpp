#include "mckean/engine.hpp"

#include <fmt/format.h>

#include <array>

#include "engine/extrapolation.hpp"
#include "engine/kalman/kalman_engine.hpp"
#include "engine/particles/particle_engine.hpp"
#include "engine/quadrature/quadrature_engine.hpp"

namespace mckean {

namespace {

template <class T, class F>
Result<T> with_law(const Engine& engine, std::span<const double> theta, Draw draw, const Request& request, F&& f) {
  const auto drawn = engine.law(theta, draw, request);
  if (!drawn) return drawn.failure();
  return f(**drawn, request);
}

// f of a request, for each level where several are asked for.
template <class T, class F>
Result<T> by_levels(const Request& request, F&& f) {
  if (!request.effort.extrapolated) return f(request);
  const auto found = values_of_levels<T>(request.effort, [&](const Effort& level) {
    Request r = request;
    r.effort = level;
    return f(r);
  });
  if (!found) return found.failure();
  T out = extrapolated(std::span<const T>(found->values), request.effort.scheme);
  if constexpr (requires { out.levels; })
    for (std::size_t l = 0; l < found->values.size(); ++l) out.levels.push_back(found->lowest + static_cast<int>(l));
  return out;
}
}  // namespace

Outcome Engine::at(std::span<const double> theta, Order order, Draw draw, const Request& request) const {
  return by_levels<Evaluation>(request, [&](const Request& r) {
    return with_law<Evaluation>(*this, theta, draw, r, [&](const Law& l, const Request& at_level) {
      return evaluate(l, order, draw, at_level);
    });
  });
}

Result<States> Engine::states_at(std::span<const double> theta, const Request& request) const {
  return by_levels<States>(request, [&](const Request& r) {
    return with_law<States>(*this, theta, {}, r,
                            [&](const Law& l, const Request& at_level) { return *states(l, at_level); });
  });
}

std::span<const EngineKind> engine_kinds() {
  static constexpr std::array kinds{
      EngineKind{"kalman", true, KalmanEngine::refuses,
                 [](const Problem& p, const EngineOptions&) -> std::unique_ptr<const Engine> {
                   return std::make_unique<const KalmanEngine>(p);
                 }},
      EngineKind{"quadrature", true, QuadratureEngine::refuses,
                 [](const Problem& p, const EngineOptions&) -> std::unique_ptr<const Engine> {
                   return std::make_unique<const QuadratureEngine>(p);
                 }},
      EngineKind{"particles", false, [](const Problem&) { return std::optional<std::string>(); },
                 [](const Problem& p, const EngineOptions& o) -> std::unique_ptr<const Engine> {
                   return std::make_unique<const ParticleEngine>(
                       ParticleProblem(p, o.level, o.seed),
                       o.full_precision ? NormalPrecision::full : NormalPrecision::single);
                 }}};
  return kinds;
}

std::unique_ptr<const Engine> make_engine(std::string_view name, const Problem& problem, const EngineOptions& options) {
  std::string known;
  for (const EngineKind& kind : engine_kinds()) {
    if (name != kind.name) {
      known += (known.empty() ? "" : ", ") + std::string(kind.name);
      continue;
    }
    if (const auto why = kind.refuses(problem)) throw InputError(*why);
    return kind.make(problem, options);
  }
  throw InputError(fmt::format("there is no engine '{}'; there are {}", name, known));
}
}  // namespace mckean
