#include "cli/signals.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace mckean::cli {
namespace {

constexpr int kInterrupted = 130;
constexpr std::int64_t kOnce = 20'000'000;  // nanoseconds: timeout(1) signals the process and then its group

// When the first signal came, 0: none has. A signal handler can reach nothing else.
std::atomic<std::int64_t> first = 0;
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// What is finished is on disk already: there is nothing to save.
void on_signal(int) {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  std::int64_t before = 0;
  if (!first.compare_exchange_strong(before, now) && now - before > kOnce) _exit(kInterrupted);
}
}  // namespace

StopSignals::StopSignals() {
  first = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &interrupt_);
  sigaction(SIGTERM, &action, &terminate_);
}

StopSignals::~StopSignals() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
}

bool StopSignals::requested() { return first > 0; }
}  // namespace mckean::cli
