#include "engine/kalman/kalman_engine.hpp"

#include <fmt/format.h>

#include <cassert>

#include "engine/kalman/kalman_filter.hpp"

namespace mckean {

std::optional<std::string> KalmanEngine::refuses(const Problem& problem) {
  const auto why = LinearFormulas::refuses(problem.model());
  if (!why) return {};
  return fmt::format("model '{}': {}; a Kalman filter needs linear equations and normal noise", problem.model().name(),
                     *why);
}

Outcome KalmanEngine::evaluate(const Law& law, Order order, Draw, const Request& request) const {
  assert(request.effort.level != kContinuous || continuous());
  return KalmanFilter(problem_, order == Order::value ? plain_ : second_, law.theta(), request).run();
}

std::optional<Result<States>> KalmanEngine::states(const Law& law, const Request& request) const {
  return KalmanFilter(problem_, plain_, law.theta(), request).smooth();
}
}  // namespace mckean
