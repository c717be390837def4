// Where the profile likelihood of a parameter has fallen by so much, on one side of the maximum.
#pragma once

#include <map>
#include <optional>

#include "infer/exact_maximum.hpp"

namespace mckean {

// How the maximum over the other parameters moves with one of them; those held stay.
Eigen::VectorXd ridge(const Eigen::MatrixXd& information, Eigen::Index parameter, const std::vector<bool>& held = {});

// Thrown where Euler's steps are too long somewhere on the way, so that there is no likelihood where the diffusion has
// one.
struct LevelTooCoarse {};

// Thrown where an end takes more work than it is worth.
struct EndTooFar {};

class ProfileEnd {
 public:
  struct Side {
    const ExactMaximum& top;  // on the level of the request
    std::size_t parameter;
    int sign;
  };
  // The second request is one level finer; `finest` as in MaximiseOptions.
  ProfileEnd(const Engine& engine, Request at, Request finer, int finest, Side side);

  // From a first guess of the distance from the maximum. The bound where the profile has not fallen as far there; none
  // where it does not fall, or only because Euler's steps become unstable.
  std::optional<double> find(double by, double guess);
  std::optional<double> find_directly(double by, double guess);  // only where that is quickly done
  // From a first guess of the point, which must be near.
  std::optional<double> find_near(double by, const Eigen::VectorXd& theta);
  // Where the last end was found, from the maximum.
  Eigen::VectorXd way() const;

  double to_bound() const;  // distance
  double work() const { return work_; }

 private:
  // A point of the way.
  struct Place {
    Eigen::VectorXd theta;
    double loglik = 0;
    Eigen::VectorXd gradient;
    Eigen::MatrixXd information;
    int level = 0;
  };

  const Parameter& parameter() const { return engine_.parameters()[side_.parameter]; }
  Eigen::Index index() const { return static_cast<Eigen::Index>(side_.parameter); }
  double value(double distance) const;
  double distance(const Place&) const;

  Result<Place> evaluate(const Eigen::VectorXd& theta);
  Eigen::VectorXd within_bounds(Eigen::VectorXd theta) const;
  std::vector<Eigen::Index> free_others(const Place&) const;
  std::optional<double> from_guess(double by, double guess);
  std::optional<double> directly(double by, Eigen::VectorXd from, int steps);
  double at_end(double distance);
  std::optional<double> corrected(double by, const Place&);
  struct Seen {
    double inner, outer;  // distances that are too short and too long
  };
  Eigen::VectorXd next_place(const Place&, double loglik, const Seen&) const;
  std::optional<Eigen::VectorXd> step_to(double loglik, const Place&) const;
  std::optional<double> by_walking(double by, double guess);
  std::optional<double> fall(double distance);
  Result<Place> walk(const Request&, const Place& from, double distance);
  bool moves_out(double distance, double by);

  const Engine& engine_;
  Request at_, finer_;
  int finest_;
  Side side_;
  std::map<double, Place> walked_;   // maxima over the others, by distance
  Eigen::VectorXd end_;              // the last that was found
  double work_ = 0, most_work_ = 0;  // the latter is known once there is a value
};
}  // namespace mckean
