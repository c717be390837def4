// Times pieces of work against each other: best of many, interleaved, so that all see the same machine.
#pragma once

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>
#include <vector>

namespace bench {

// Of this thread alone: what other programs take of the processor does not count.
inline double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double once(const std::function<void()>& work) {
  const double start = seconds();
  work();
  return seconds() - start;
}

// The shortest time of each piece over `rounds` rounds in which all take their turn.
inline std::vector<double> best_of(int rounds, const std::vector<std::function<void()>>& pieces) {
  std::vector<double> best(pieces.size(), std::numeric_limits<double>::infinity());
  for (int r = 0; r < rounds; ++r)
    for (std::size_t i = 0; i < pieces.size(); ++i) best[i] = std::min(best[i], once(pieces[i]));
  return best;
}
}  // namespace bench
