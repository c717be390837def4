// A problem as laws and filters of particles see it.
#pragma once

#include "law/law.hpp"
#include "problem/compiled.hpp"

namespace mckean {

class ParticleProblem {
 public:
  // Finds the rank of expansions at the start values, on this level or the next one whose steps are short enough.
  ParticleProblem(Problem, int rank_level, std::uint64_t seed);

  const Problem& problem() const { return problem_; }
  const Model& model() const { return problem_.model(); }
  const Data& data() const { return problem_.data(); }
  double unit() const { return problem_.unit(); }
  const System& system() const { return problem_.compiled().system; }
  const Observation& observation() const { return problem_.compiled().observation; }
  const ObservationScore& observation_score() const { return problem_.compiled().observation_score; }
  Schedule schedule(Steps steps) const { return {data(), steps.level, unit(), steps.scheme}; }
  std::size_t first_rank() const { return first_rank_; }

 private:
  bool finds_rank(int level, std::uint64_t seed);

  Problem problem_;
  std::size_t first_rank_ = 0;
};
}  // namespace mckean
