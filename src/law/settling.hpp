// Whether the law settles: whether large populations follow the law of N → ∞.
//
// Laws from independent starts and increments are apart by O(1/√N). Where they are not, a symmetry is broken at random,
// as past a phase transition: the law of N → ∞ is still one, but it is unstable. Where their distance grows for as long
// as one looks, the law has a free direction, such as a swarm's centre, in which every population wanders by itself.
// Noise that is antithetic, centred or stratified hides both.
#pragma once

#include <optional>

#include "law/law_track.hpp"
#include "mckean/finding.hpp"

namespace mckean {

class Settling {
 public:
  static constexpr std::size_t kLaws = 16;  // of each of two sizes

  // By the laws of a system on a grid. first_rank: where to begin to look for the rank that their expansions need.
  Settling(const System&, const Grid&, std::size_t first_rank, std::uint64_t seed);

  bool concerns() const { return reads_law_; }  // else there is nothing to ask
  std::size_t tracks() const { return 2 * kLaws; }
  std::size_t particles(std::size_t track) const { return track < kLaws ? few_ : many_; }
  double work(std::size_t track) const;  // particle-steps
  LawTrack track(std::size_t number, std::span<const double> theta) const;
  // What a reader must know, if anything.
  std::optional<Finding> judge(std::span<const LawTrack>) const;

 private:
  struct Spread {
    double few, many, particle;  // variances between laws of either size, and of a particle
  };
  Spread spread(std::span<const LawTrack>, std::size_t component, std::size_t time) const;
  bool drifts(std::span<const LawTrack>, std::size_t component) const;

  const System& system_;
  const Grid& grid_;
  std::size_t first_rank_;
  std::uint64_t seed_;
  bool reads_law_;
  std::size_t few_, many_;
  std::vector<std::size_t> points_;  // of the grid, that are looked at
};
}  // namespace mckean
