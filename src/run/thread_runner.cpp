#include "run/thread_runner.hpp"

#include <algorithm>

#include "run/crew.hpp"

namespace mckean {

std::vector<std::vector<double>> ThreadRunner::run(std::span<const Task> tasks, const TaskFunction& function) {
  try {
    Batch batch(tasks, keeper_);
    if (!batch.complete()) {
      if (keeper_.stop_requested()) throw Stopped{};
      Crew crew(std::clamp<std::size_t>(threads_, 1, batch.left()), function);
      while (const auto position = batch.next()) crew.begin(*position);
      bool stopping = false;
      while (crew.open() > 0) {
        if (auto outcome = crew.collect(std::chrono::milliseconds(100))) batch.take(std::move(*outcome));
        keeper_.waiting();
        if (stopping || !(batch.broken() || keeper_.stop_requested())) continue;
        crew.request_stop();
        stopping = true;
      }
    }
    auto results = std::move(batch).results();
    keeper_.completed();
    return results;
  } catch (...) {
    keeper_.failed(std::current_exception());
    throw;
  }
}
}  // namespace mckean
