#include "paper/problem.hpp"

#include "problem/support.hpp"

namespace mckean {

Problem::Problem(const Model& model, const Data& data, double unit, int rank_level, std::uint64_t seed)
    : model_(model), data_(data), system_(model), observation_(model), observation_score_(model), unit_(unit) {
  check_support(model, data);
  const LawNoise noise{{seed, 0, 0, Purpose::law_start}, {seed, 0, 0, Purpose::law}};
  first_rank_ = find_rank(system_, schedule(rank_level).grid, model.start_values(), noise, {.particles = 256});
}

const Schedule& Problem::schedule(int level) const {
  const std::scoped_lock lock(mutex_);
  auto& made = schedules_[level];
  if (!made) made = std::make_unique<const Schedule>(data_, level, unit_);
  return *made;
}
}  // namespace mckean
