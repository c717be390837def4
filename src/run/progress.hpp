// Progress of a fit on stderr: a live line on a terminal, elsewhere a plain line now and then.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "mckean/tasks.hpp"

namespace mckean {

// What the line says; separate from where it goes.
struct ProgressText {
  FitObserver::Progress progress;
  std::vector<std::string> names;   // of the parameters
  double extra = 0;                 // particle-steps finished since the fit last told
  double elapsed = 0;               // seconds
  std::optional<double> remaining;  // seconds
  std::size_t tasks = 0;            // finished
  std::string line(std::size_t width) const;
};

std::string duration_text(double seconds);  // "8 s", "3 min 20 s", "2 h 5 min"

class ProgressLine {
 public:
  ProgressLine(bool show, std::size_t tasks);  // those that were finished before
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void name_parameters(const std::vector<std::string>& names) { names_ = names; }
  void update(const FitObserver::Progress&);  // from the fit
  void finished(double cost);                 // a task that was computed now
  void tick();                                // often; draws when it is time
  void clear();                               // so that others may write

 private:
  std::optional<double> remaining() const;

  using Clock = std::chrono::steady_clock;
  bool show_, live_;
  std::vector<std::string> names_;
  std::optional<FitObserver::Progress> latest_;
  double computed_ = 0, since_ = 0;  // cost, in this phase and process, and since the fit last told
  std::size_t tasks_;
  Clock::time_point start_ = Clock::now(), phase_start_ = start_, drawn_;
  bool on_screen_ = false;
};
}  // namespace mckean
