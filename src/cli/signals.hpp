// Ctrl-C and SIGTERM while a run is going on.
#pragma once

#include <csignal>

namespace mckean::cli {

// From construction to destruction the first signal is a request and the second, unless it is an echo of the first,
// ends the process at once with status 130. There is one at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static bool requested();

 private:
  struct sigaction interrupt_ {
  }, terminate_{};  // what was in force before
};
}  // namespace mckean::cli
