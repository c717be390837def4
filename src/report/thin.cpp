#include "report/thin.hpp"

#include <algorithm>
#include <cmath>

namespace mckean::report {

Points thinned(const Points& all, std::size_t most) {
  if (all.size() <= most) return all;
  const std::size_t stretches = std::max<std::size_t>(1, most / 4);
  Points out;
  for (std::size_t s = 0; s < stretches; ++s) {
    const std::size_t from = all.size() * s / stretches, to = all.size() * (s + 1) / stretches;
    std::size_t lowest = from, highest = from;
    for (std::size_t i = from; i < to; ++i) {
      if (all[i].second < all[lowest].second) lowest = i;
      if (all[i].second > all[highest].second) highest = i;
    }
    std::vector<std::size_t> keep{from, lowest, highest, to - 1};
    std::ranges::sort(keep);
    keep.erase(std::unique(keep.begin(), keep.end()), keep.end());
    for (const std::size_t i : keep) out.push_back(all[i]);
  }
  return out;
}

std::vector<std::size_t> spread(std::size_t count, std::size_t most) {
  std::vector<std::size_t> out;
  const std::size_t n = std::min(count, most);
  for (std::size_t k = 0; k < n; ++k) out.push_back(n == 1 ? 0 : k * (count - 1) / (n - 1));
  return out;
}

std::vector<std::size_t> spread_log(std::size_t count, std::size_t most) {
  std::vector<std::size_t> out;
  for (const std::size_t k : spread(most, most)) {
    const double share = most == 1 ? 1 : static_cast<double>(k) / static_cast<double>(most - 1);
    const auto n = static_cast<std::size_t>(std::lround(std::pow(static_cast<double>(count), share)));
    if (count > 0 && (out.empty() || n > out.back())) out.push_back(std::min(n, count));
  }
  return out;
}
}  // namespace mckean::report
