#include "mckean/engine.hpp"

#include <fmt/format.h>

#include <array>

#include "engine/kalman/kalman_engine.hpp"
#include "engine/particles/particle_engine.hpp"
#include "engine/quadrature/quadrature_engine.hpp"

namespace mckean {

Outcome Engine::at(std::span<const double> theta, Order order, Draw draw, const Request& request) const {
  const auto drawn = law(theta, draw, request);
  return drawn ? evaluate(**drawn, order, draw, request) : drawn.failure();
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
