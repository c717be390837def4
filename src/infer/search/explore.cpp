#include "infer/search/explore.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "infer/search/population.hpp"
#include "infer/search/proposals.hpp"
#include "noise/noise.hpp"

namespace mckean::search {
namespace {

using Eigen::VectorXd;

constexpr std::size_t kDraws = 6;           // that measure the noise at a point
constexpr double kLoud = 4;                 // standard deviation of a log-likelihood that hides its slope
constexpr double kAudible = 1.5;            // that is worth more particles
constexpr std::size_t kMostParticles = 16;  // times as many as in the beginning
constexpr double kLeastTemper = 1.0 / 256;
constexpr int kMostFiner = 4;         // levels, where the reason for no likelihood is not that steps are too long
constexpr int kPause = 6;             // generations between two measurements of the noise
constexpr double kWithinNoise = 2.5;  // standard deviations between the halves of a generation (1.6 by chance)
constexpr double kLeastNoise = 0.15;  // an exact likelihood is explored to this
constexpr double kClear = 10;         // of them, that show the way although the observations weigh more
constexpr int kStill = 3;             // generations in a row within the noise that end it
constexpr double kRoom = 1.5;         // times as wide, for a population whose likelihood is another one
constexpr double kNear = 10;          // mean square of a distance from a known population, in its variances
constexpr double kOutside = 20;       // log units per squared unit beyond a bound
constexpr int kPatience = 8;          // generations without a single value

class Exploration {
 public:
  Exploration(Evaluations& evaluate, const Box& box, const ExploreOptions& options)
      : evaluate_(evaluate),
        box_(box),
        options_(options),
        effort_(options.effort),
        population_(options.start, options.width, options.shape, seed_of(evaluate.seed(), options.name + " points")) {}

  Explored run() {
    begin();
    for (int g = 0; g < options_.most_generations && evaluate_.cost() < begun_ + options_.most_cost; ++g) {
      generation(g);
      if (empty_ == kPatience) return {false, problem_, {}, {}, effort_, 0};
      if (arrived()) break;
      if (clear_) louder(1);
      if (still_ >= kStill && !louder(kRoom) && !quieter()) break;
      if (g % kPause == kPause - 1) measure();
    }
    effort_.temper = 1;
    const Moments at = draws("end", population_.mean());
    if (at.found == 0) return {false, at.problem, {}, {}, effort_, 0};
    return {true, "", box_.inside(population_.mean()), population_.covariance(), effort_, at.mean};
  }

 private:
  Moments draws(const std::string& what, const VectorXd& z) {
    const auto name = fmt::format("{} {} {}", options_.name, what, ++measured_);
    const auto values = evaluate_(name, {box_.theta(box_.inside(z)), effort_}, kDraws);
    explodes_ = std::ranges::any_of(values, &Value::too_coarse);
    return moments(values);
  }

  // The coarsest level with a likelihood at the start or somewhere around it, and a temper at which it is not all
  // noise.
  void begin() {
    Moments at = draws("start", population_.mean());
    bool any = at.found > 0 || found_around();
    const int far = options_.effort.level + kMostFiner;
    while (!any && effort_.level < (explodes_ ? options_.highest_level : std::min(options_.highest_level, far))) {
      ++effort_.level;
      at = draws("start", population_.mean());
      any = at.found > 0 || found_around();
    }
    if (!any) effort_.level = options_.effort.level;
    if (at.found > 1 && std::sqrt(at.variance) > kAudible) {
      effort_ = with_best_proposal(evaluate_, options_.name, box_.theta(box_.inside(population_.mean())), effort_);
      if (effort_.ahead) at = draws("start", population_.mean());
    }
    while (at.found > 1 && std::sqrt(at.variance) > kLoud && effort_.temper > kLeastTemper) {
      effort_.temper /= 4;
      at = draws("start", population_.mean());
    }
    noise_ = std::sqrt(at.variance);
  }

  // Whether a quarter of the points that the population begins with have a likelihood.
  bool found_around() {
    const std::vector<VectorXd> points = population_.ask();
    std::vector<Point> requests;
    for (const VectorXd& z : points) requests.push_back({box_.theta(box_.inside(z)), effort_});
    const auto values = evaluate_(fmt::format("{} around {}", options_.name, effort_.level), requests);
    const auto found = std::ranges::count_if(values, [](const Value& v) { return v.loglik.has_value(); });
    return 4 * static_cast<std::size_t>(found) >= values.size();
  }

  void generation(int g) {
    const std::vector<VectorXd> points = population_.ask();
    std::vector<Point> requests;
    for (const VectorXd& z : points) requests.push_back({box_.theta(box_.inside(z)), effort_});
    const auto values = evaluate_(fmt::format("{} generation {}", options_.name, g), requests);
    std::vector<double> ranked;
    std::size_t found = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double beyond = (points[i] - box_.inside(points[i])).squaredNorm();
      if (values[i].loglik)
        ++found;
      else
        problem_ = values[i].problem;
      ranked.push_back(values[i].loglik ? *values[i].loglik - kOutside * beyond
                                        : -std::numeric_limits<double>::infinity());
    }
    empty_ = found == 0 ? empty_ + 1 : 0;
    population_.tell(points, ranked);
    std::ranges::sort(ranked, std::greater());
    double better = 0, worse = 0;
    for (std::size_t i = 0; i < ranked.size(); ++i) (i < ranked.size() / 2 ? better : worse) += ranked[i];
    const double half = static_cast<double>(ranked.size()) / 2;
    const double between = (better - worse) / half, noise = std::max(noise_, kLeastNoise);
    still_ = between < kWithinNoise * noise ? still_ + 1 : 0;
    clear_ = between > kClear * noise;
    evaluate_.tell(fmt::format("{}", options_.name), box_.theta(box_.inside(population_.mean())),
                   found > 0 && effort_.temper == 1 ? std::optional(better / half) : std::nullopt);
  }

  // Whether the population has come to a place that is known.
  bool arrived() const {
    return effort_.temper == 1 && std::ranges::any_of(options_.known, [&](const Explored& e) {
             const Eigen::LLT<Eigen::MatrixXd> known(e.covariance);
             const VectorXd away = population_.mean() - e.mean;
             const double squares = away.dot(known.solve(away)) + known.solve(population_.covariance()).trace();
             return squares < kNear * static_cast<double>(away.size());
           });
  }

  void measure() {
    const Moments at = draws("noise", population_.mean());
    if (at.found > 1) noise_ = std::sqrt((noise_ * noise_ + at.variance) / 2);
    if (effort_.ahead) look_no_further();
    if (effort_.temper < 1 && noise_ < kLoud / 3) louder(kRoom);
  }

  // What the start needed is dear, and not worth it where plain particles are quiet as well.
  void look_no_further() {
    effort_.ahead = false;
    const Moments plain = draws("plain", population_.mean());
    const double noise = std::sqrt(plain.variance);
    effort_.ahead = plain.found < kDraws || noise > kAudible;
    if (!effort_.ahead) noise_ = noise;
  }

  // Gives the observations more weight, and the population room to follow; false where they have it all.
  bool louder(double room) {
    if (effort_.temper == 1) return false;
    effort_.temper = std::min(1.0, 4 * effort_.temper);
    population_.widen(room);
    const Moments at = draws("temper", population_.mean());
    noise_ = std::sqrt(at.variance);
    still_ = 0;
    return true;
  }

  // More particles, where noise is what holds the population; false where it is small or there are many already.
  bool quieter() {
    if (noise_ < kAudible || effort_.particles >= kMostParticles * options_.effort.particles) return false;
    effort_.particles *= 4;
    population_.widen(kRoom);
    const Moments at = draws("quieter", population_.mean());
    if (at.found > 1) noise_ = std::sqrt(at.variance);
    still_ = 0;
    return true;
  }

  Evaluations& evaluate_;
  const Box& box_;
  const ExploreOptions& options_;
  Effort effort_;
  Population population_;
  double noise_ = 0, begun_ = evaluate_.cost();
  bool clear_ = false, explodes_ = false;
  int still_ = 0, empty_ = 0, measured_ = 0;
  std::string problem_;
};
}  // namespace

Explored explore(Evaluations& evaluate, const Box& box, const ExploreOptions& options) {
  return Exploration(evaluate, box, options).run();
}
}  // namespace mckean::search
