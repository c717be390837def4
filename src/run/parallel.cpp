#include "run/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace mckean {

std::size_t all_cores() { return std::max(1u, std::thread::hardware_concurrency()); }

void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::vector<std::exception_ptr> errors(count);
  const auto work = [&] {
    while (!failed) {
      const std::size_t i = next++;
      if (i >= count) return;
      try {
        task(i);
      } catch (...) {
        errors[i] = std::current_exception();
        failed = true;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t k = 1; k < std::min(threads, count); ++k) others.emplace_back(work);
    work();
  }
  for (const auto& e : errors)
    if (e) std::rethrow_exception(e);
}
}  // namespace mckean
