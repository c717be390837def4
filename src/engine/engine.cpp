#include "mckean/engine.hpp"

#include <fmt/format.h>

#include <array>

#include "engine/extrapolation.hpp"
#include "engine/kalman/kalman_engine.hpp"
#include "engine/particles/particle_engine.hpp"
#include "engine/quadrature/quadrature_engine.hpp"

namespace mckean {
namespace {

// Extrapolated from f of requests at single levels.
template <class T, class F>
Result<T> by_levels(const Request& request, F&& f) {
  Request level = request;
  level.effort.extrapolated = false;
  std::vector<T> values;
  double work = 0;
  const auto failed = [&work](Failure why) {
    why.work = work;
    return why;
  };
  for (std::size_t l = 0; l < extrapolation_weights(request.effort.scheme).size(); ++l, ++level.effort.level) {
    const Result<T> found = f(level);
    if (!found) return failed(of_coarse_level(found.failure()));
    if constexpr (std::is_same_v<T, Evaluation>) work += found->work;
    values.push_back(*found);
  }
  T out = extrapolated(std::span<const T>(values), request.effort.scheme);
  if constexpr (std::is_same_v<T, Evaluation>) {
    if (out.apart > request.most_apart) return failed(too_far_apart(out.apart));
    for (std::size_t l = 0; l < values.size(); ++l) out.levels.push_back(request.effort.level + static_cast<int>(l));
  }
  return out;
}
}  // namespace

Outcome Engine::at(std::span<const double> theta, Order order, Draw draw, const Request& request) const {
  if (request.effort.extrapolated)
    return by_levels<Evaluation>(request, [&](const Request& level) { return at(theta, order, draw, level); });
  const auto drawn = law(theta, draw, request);
  if (!drawn) return drawn.failure();
  return evaluate(**drawn, order, draw, request);
}

Result<States> Engine::states_at(std::span<const double> theta, const Request& request) const {
  if (request.effort.extrapolated)
    return by_levels<States>(request, [&](const Request& level) { return states_at(theta, level); });
  const auto drawn = law(theta, {}, request);
  if (!drawn) return drawn.failure();
  return *states(**drawn, request);
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
