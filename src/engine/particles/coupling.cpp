#include "engine/particles/coupling.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace mckean {

void MaximalCoupling::set(std::span<const double> fine, std::span<const double> coarse) {
  const std::size_t n = fine.size();
  const double sum1 = std::accumulate(fine.begin(), fine.end(), 0.0),
               sum2 = std::accumulate(coarse.begin(), coarse.end(), 0.0);
  std::vector<double> common(n), first(n), second(n);
  double rest1 = 0, rest2 = 0;
  common_mass_ = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double r1 = fine[i] / sum1, r2 = coarse[i] / sum2;
    common[i] = std::min(r1, r2);
    first[i] = r1 - common[i], second[i] = r2 - common[i];
    common_mass_ += common[i], rest1 += first[i], rest2 += second[i];
  }
  // Equal vectors leave no residual, up to rounding: then everything is common.
  if (!(rest1 > 0) || !(rest2 > 0)) common_mass_ = 1;
  if (common_mass_ > 0) common_.set(common);
  if (common_mass_ < 1) fine_.set(first), coarse_.set(second);
}

std::pair<std::uint32_t, std::uint32_t> MaximalCoupling::draw(const std::array<double, 3>& u) const {
  if (u[0] < common_mass_) {
    const std::uint32_t i = common_.draw(u[1]);
    return {i, i};
  }
  return {fine_.draw(u[1]), coarse_.draw(u[2])};
}

std::unique_ptr<Coupling> make_maximal_coupling() { return std::make_unique<MaximalCoupling>(); }
}  // namespace mckean
