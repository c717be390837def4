// From the start values to the neighbourhood of a maximum: explorations from several starts, compared, and the coarsest
// steps that serve there.
#pragma once

#include "infer/search/explore.hpp"
#include "infer/search/search.hpp"

namespace mckean::search {

inline constexpr std::size_t kExploring = 256, kComparing = 1024;  // M
inline constexpr double kComparable = 3;                           // log units within which another maximum is reported

class Starts {
 public:
  struct Candidate {
    Explored explored;
    double loglik = 0, error = 0;
  };

  Starts(Evaluations& evaluate, const Box& box, std::span<const Parameter> parameters, const SearchOptions& options)
      : evaluate_(evaluate), box_(box), parameters_(parameters), options_(options), level_(options.levels.first) {}

  // The exploration to begin next: as many as wanted, and more where they do not agree.
  std::optional<ExploreOptions> next();
  void take(Explored);  // what came of it
  // Once there are no more: finer steps, as long as they change the likelihood of the best point much. Throws
  // NumericalError where no start has a likelihood. All of these throw Stopped and OutOfTime.
  void choose();

  const std::vector<Candidate>& candidates() const { return candidates_; }  // the best first
  // By the level and the proposal that were chosen.
  Effort effort(std::size_t particles) const { return effort_at(particles, level_); }
  const std::optional<LocalMaximum>& best() const { return best_; }  // so far

 private:
  Eigen::VectorXd start(std::size_t k) const;
  bool disagree() const;
  void compare();
  void choose_level();
  Effort effort_at(std::size_t particles, int level) const;
  void explore_again();

  Evaluations& evaluate_;
  const Box& box_;
  std::span<const Parameter> parameters_;
  const SearchOptions& options_;
  std::vector<Candidate> candidates_;
  std::size_t tried_ = 0;
  double cost_before_ = 0;  // the exploration that was begun last
  int level_ = 0;
  Effort proposal_;  // of which only how particles look ahead is read
  std::optional<LocalMaximum> best_;
  double cheapest_ = std::numeric_limits<double>::infinity();  // of explorations that found something
  std::string problem_;
};
}  // namespace mckean::search
