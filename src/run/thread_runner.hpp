// Tasks on the threads of this process.
#pragma once

#include "run/batch.hpp"

namespace mckean {

// Tasks of high expected cost begin first, equal ones in their order; a thread takes up the next as soon as it is free.
// A task that fails, or a stop that the keeper reports, stops the others; what they finished is kept.
class ThreadRunner : public TaskRunner {
 public:
  explicit ThreadRunner(std::size_t threads) : ThreadRunner(threads, nothing_) {}
  ThreadRunner(std::size_t threads, Keeper& keeper) : threads_(threads), keeper_(keeper) {}
  ThreadRunner(const ThreadRunner&) = delete;
  ThreadRunner& operator=(const ThreadRunner&) = delete;

  std::vector<std::vector<double>> run(std::span<const Task>, const TaskFunction&) override;
  bool out_of_time() override { return keeper_.out_of_time(); }

 private:
  Keeper nothing_;
  std::size_t threads_;
  Keeper& keeper_;
};
}  // namespace mckean
