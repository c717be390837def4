#include "run/signals.hpp"

#include <unistd.h>

#include <atomic>

namespace mckean {
namespace {

constexpr int kInterrupted = 130;

// A signal handler can reach nothing else.
std::atomic<int> received = 0;
static_assert(std::atomic<int>::is_always_lock_free);

// What is finished is on disk already: there is nothing to save.
void on_signal(int) {
  if (received.fetch_add(1) > 0) _exit(kInterrupted);
}
}  // namespace

StopSignals::StopSignals() {
  received = 0;
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

bool StopSignals::requested() { return received > 0; }
}  // namespace mckean
