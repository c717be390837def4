#include "run/parallel.hpp"

#include <algorithm>
#include <thread>

#include "run/thread_runner.hpp"

namespace mckean {

std::size_t all_cores() { return std::max(1u, std::thread::hardware_concurrency()); }

void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& task) {
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < count; ++i) tasks.push_back({"", static_cast<std::uint32_t>(i)});
  ThreadRunner(threads).run(tasks, [&](std::size_t i, const std::stop_token&) {
    task(i);
    return std::vector<double>{};
  });
}
}  // namespace mckean
