// Near a maximum: rounds of log-likelihoods around the best point, a polynomial through them, and a step to its top.
#pragma once

#include <cmath>
#include <optional>

#include "infer/search/design.hpp"
#include "infer/search/evaluation.hpp"
#include "infer/search/top.hpp"

namespace mckean::search {

inline constexpr double kMoves = 0.2;  // standard errors by which a finer computation may move the top

struct RoundsOptions {
  std::string name;                 // of its tasks
  double share = 0.1;               // the regression's error of the top, in standard errors, at which it ends
  std::optional<double> tolerance;  // in place of that: Monte Carlo error of every θ
  double most_cost = 5e9;           // of a refinement, where nothing else limits it
  std::size_t most_particles = 16384;
  bool fixed_particles = false;  // M is the user's
  double law_ratio = 1;          // N over M, where N follows M
  std::size_t most_law_particles = 65536;
};

// What is known of the maximum.
struct Fit {
  Polynomial f;
  Region region;
  Top top;
  Eigen::MatrixXd covariance, error;  // of z: statistical, and by Monte Carlo
};

// By how much the top moves when something is computed more finely, in z.
struct Shift {
  Eigen::VectorXd z;
  Eigen::MatrixXd error;
};

class Rounds {
 public:
  Rounds(Evaluations& evaluate, const Box& box, RoundsOptions options, Region region, const Effort& effort)
      : evaluate_(evaluate),
        box_(box),
        options_(std::move(options)),
        region_(std::move(region)),
        first_(region_.centre),
        efforts_{effort} {}

  // Until the region is about as wide as the likelihood and the top lies within. False where that does not happen.
  // Throws Stopped and OutOfTime, as everything here.
  bool settle();
  // Until the Monte Carlo error is small enough; false where that costs too much, or the top is lost.
  bool refine();
  // The polynomial through all that is known, after some samples where there are few, and its top; false where there is
  // none in the region.
  bool look_roughly();
  // What another effort makes of the top, known to about so many standard errors; the samples are kept where it is then
  // adopted.
  std::optional<Shift> shift(const Effort&, double error);
  void adopt(const Shift&);                // the last one, with its effort
  void move_to(const Eigen::VectorXd& z);  // a point that turned out to be higher than the top
  // Coordinates in which the samples near the top are clearly more of a parabola, where there are such; and all that is
  // known in those that the box has now, in place of others before.
  std::optional<Box> straighter() const;
  void convert(const Box& before);
  void begin_again();           // with the current effort, without what the others found
  void restart(const Effort&);  // where it stands, knowing nothing

  const Effort& effort() const { return efforts_.back(); }
  const std::optional<Fit>& fit() const { return fit_; }
  bool at_top() const { return at_top_; }  // the last look found one, by the current effort
  bool exploding() const;                  // steps are too long at points near the centre
  const Region& region() const { return region_; }
  double noise() const { return noise_; }  // standard deviation of one log-likelihood at the top
  // Directions in z along which the likelihood was found flat, and that were left out.
  const std::vector<Eigen::VectorXd>& flat() const { return flat_; }
  double largest_share() const;  // Monte Carlo error over standard error, of the worst parameter
  double cost_of(std::size_t samples, const Effort&) const;  // by what one has cost so far
  std::vector<Sample> last() const { return usable(); }

 private:
  struct Taken {
    Eigen::VectorXd z;
    double value;
    std::size_t effort;
  };
  std::vector<Taken> values_at(const std::string& what, std::span<const Eigen::VectorXd>, const Effort&);
  void count_explosions(std::span<const Eigen::VectorXd>, std::span<const Value>);
  std::vector<Taken> take(const std::string& what, std::span<const Eigen::VectorXd>);
  std::vector<Eigen::VectorXd> design(std::size_t count, double width);
  std::vector<Eigen::VectorXd> chosen(std::size_t least, std::size_t most);
  std::size_t few() const;
  double expected_error(const Design&) const;
  static constexpr double kTrusted = 3;  // distance in widths up to which samples are used
  // Log units below the best within which samples are near the top.
  double depth() const { return 6 + 2 * static_cast<double>(box_.size()); }
  static double height(std::vector<double> values);
  std::vector<Sample> near(std::size_t count, double& share) const;
  std::vector<Sample> trusted(std::span<const Taken>, std::size_t group) const;
  std::vector<Sample> usable() const;
  struct Axis {
    Eigen::VectorXd direction;  // in u
    double curvature, curvature_error, slope, slope_error;
    bool curved() const { return curvature > 2.5 * curvature_error; }
    bool sloped() const { return std::abs(slope) > 3 * slope_error; }
  };
  std::vector<Axis> axes_of(const Polynomial&) const;
  bool wide(const Axis&) const;
  bool reshape(std::span<const Axis>, bool level);
  Eigen::VectorXd step(const Top&, std::span<const Axis>) const;
  bool follow(const Fit&);
  void choose_particles();
  static bool curved(const Polynomial&, const Top&);
  bool look();
  static std::optional<Polynomial> polynomial(std::span<const Sample>, const Region&);
  bool steady();
  bool uncertain(const Shift&, double bearable) const;
  std::optional<Shift> tried_shift(std::size_t count) const;
  double wanted(Eigen::Index i) const;
  double over_wanted(const Eigen::MatrixXd& error) const;

  Evaluations& evaluate_;
  const Box& box_;
  RoundsOptions options_;
  Region region_;
  Eigen::VectorXd first_;        // where it began
  std::vector<Effort> efforts_;  // the last one is current; the others are those that samples come from
  std::vector<Taken> taken_;
  Effort tried_;  // by the last shift, with what it found
  std::vector<Taken> tried_samples_;
  std::optional<Fit> fit_;
  bool at_top_ = false, steady_ = false;
  bool quiet_ = false;    // M was chosen
  double narrowing_ = 1;  // of the samples
  double noise_ = 0, width_ = 1.2, cost_ = 0, sample_cost_ = 0;
  std::vector<Eigen::VectorXd> flat_;
  Effort sample_effort_;
  int round_ = 0, steep_ = 0;               // how often the region was too wide
  std::size_t central_ = 0, exploded_ = 0;  // points near the centre since the steps were chosen; without a likelihood
};
}  // namespace mckean::search
