#include "plain_iteration.hpp"

#include <chrono>

#include "plain_kuramoto.hpp"

double plain_iteration_seconds(int level, int T, unsigned long M, unsigned long N, const std::vector<double>& y) {
  plain::Kuramoto twin({level, T, M, N}, y, 1);
  const auto start_path = twin.first(0.4);
  const auto start = std::chrono::steady_clock::now();
  const auto paths = twin.kernel(start_path, 0.4, 0.4);
  volatile double sink = twin.scores(paths, 0.4, 0.4).first;
  static_cast<void>(sink);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
