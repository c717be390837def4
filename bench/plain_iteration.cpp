#include "plain_iteration.hpp"

#include <memory>

#include "plain_kuramoto.hpp"

std::function<void()> plain_iteration(int level, int T, unsigned long M, unsigned long N,
                                      const std::vector<double>& y) {
  const auto twin = std::make_shared<plain::Kuramoto>(plain::Settings{level, T, M, N}, y, 1);
  return [twin, path = twin->first(0.4)] {
    const auto paths = twin->kernel(path, 0.4, 0.4);
    volatile double sink = twin->scores(paths, 0.4, 0.4).first;
    static_cast<void>(sink);
  };
}
