// A model with data, compiled once and shared by all chains and threads.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "engine/particles/kernel.hpp"
#include "engine/particles/score.hpp"

namespace mckean {

class Problem {
 public:
  // rank_level: the level at which the rank of expansions is found.
  Problem(const Model&, const Data&, double unit, int rank_level, std::uint64_t seed);

  const Model& model() const { return model_; }
  const Data& data() const { return data_; }
  const System& system() const { return system_; }
  const Observation& observation() const { return observation_; }
  const ObservationScore& observation_score() const { return observation_score_; }
  const Schedule& schedule(int level) const;
  double unit() const { return unit_; }
  std::size_t first_rank() const { return first_rank_; }

 private:
  const Model& model_;
  const Data& data_;
  System system_;
  Observation observation_;
  ObservationScore observation_score_;
  double unit_;
  std::size_t first_rank_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::unique_ptr<const Schedule>> schedules_;
};
}  // namespace mckean
