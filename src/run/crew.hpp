// Threads that compute tasks of one batch, in the order in which they are begun.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "mckean/tasks.hpp"

namespace mckean {

// Used by one thread, which hands out positions and collects what came of them. A task that throws stops the others.
class Crew {
 public:
  struct Outcome {
    std::size_t position = 0;
    std::vector<double> value;
    double seconds = 0;
    std::exception_ptr error;  // instead of a value
  };

  Crew(std::size_t threads, const TaskFunction&);
  ~Crew();  // asks the tasks to stop and waits for them
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void begin(std::size_t position);
  std::size_t open() const;                                   // begun here and not yet collected
  std::optional<Outcome> collect(std::chrono::milliseconds);  // waits at most that long
  void request_stop();                                        // what no thread has taken up is dropped

 private:
  void work();
  void drop_waiting();

  const TaskFunction& function_;
  std::stop_source stop_;
  mutable std::mutex mutex_;  // guards the next four
  std::deque<std::size_t> waiting_;
  std::deque<Outcome> finished_;
  std::size_t open_ = 0;
  bool closed_ = false;
  std::condition_variable to_do_, done_;
  std::vector<std::jthread> threads_;
};
}  // namespace mckean
