// The Kalman filter of every series, given the law's mean, with derivatives.
#pragma once

#include <map>

#include "engine/kalman/propagation.hpp"
#include "mckean/engine.hpp"
#include "problem/schedule.hpp"

namespace mckean {

// One evaluation. In continuous time where the effort's level says so, which takes constant coefficients.
class KalmanFilter {
 public:
  KalmanFilter(const Problem&, const LinearFormulas&, std::span<const double> theta, const Request&);
  // Both throw Stopped.
  Outcome run();
  Result<States> smooth();  // without derivatives

 private:
  // What backward smoothing needs of a time: how the state came there, before and after its observations.
  struct Moment {
    Eigen::MatrixXd F;
    Eigen::VectorXd predicted;
    Eigen::MatrixXd predicted_covariance;
    Eigen::VectorXd mean;
    Eigen::MatrixXd covariance;
  };
  struct Track {
    std::size_t row = 0;  // the next one of the series
    JetMatrix mean, covariance;
    std::vector<double> prediction_errors;
    std::vector<Moment> moments;  // one for each time, where they are wanted
  };

  void move(std::size_t i);             // all to the time numbered i, from the one before
  Propagation interval(std::size_t i);  // and the law
  Propagation constant_interval(std::size_t i);
  Propagation step_by(const StepTime&);
  Propagation steps_by(std::size_t first, std::size_t n);
  bool observe(std::size_t series, Track&);  // false: no density
  void predict(Track&, std::span<const double> values) const;
  bool update(Track&, Eigen::Index column, double y);
  Evaluation result() const;
  static void smooth_back(std::vector<Moment>&);

  const Problem& problem_;
  const LinearFormulas& formulas_;
  const Request& request_;
  LinearFormulas::Reader reader_;
  std::vector<double> times_;         // the distinct ones of all series
  std::optional<Schedule> schedule_;  // none in continuous time
  JetMatrix law_mean_, law_covariance_;
  Coefficients now_;
  std::map<std::pair<double, std::size_t>, Propagation> known_;  // by length and number of steps
  std::vector<Track> tracks_;
  JetMatrix loglik_;
  double work_ = 0;
  bool keeps_moments_ = false;
};
}  // namespace mckean
