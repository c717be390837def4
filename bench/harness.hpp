// Times pieces of work against each other: best of many, interleaved, so that both see the same machine.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <vector>

namespace bench {

inline double once(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The shortest time of each piece over `rounds` rounds in which all take their turn.
inline std::vector<double> best_of(int rounds, const std::vector<std::function<void()>>& pieces) {
  std::vector<double> best(pieces.size(), std::numeric_limits<double>::infinity());
  for (int r = 0; r < rounds; ++r)
    for (std::size_t i = 0; i < pieces.size(); ++i) best[i] = std::min(best[i], once(pieces[i]));
  return best;
}
}  // namespace bench
