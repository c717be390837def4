#include "infer/line_scan.hpp"

#include <algorithm>
#include <cmath>

#include "infer/quadratic_model.hpp"

namespace mckean {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr double kReach = 8;       // factor, where a parameter has one bound
constexpr double kWidth = 3;       // sizes to either side, where it has none
constexpr double kSurprise = 0.3;  // log units between a value and what its neighbours predict
constexpr double kBreak = 2;       // and between a promise and the mean of theirs
constexpr double kHopeless = 30;   // log units below the best at which nobody looks between neighbours
constexpr double kSafety = 4;      // factor by which the likelihood may bend more than has been seen
constexpr double kLeastRise = 0.05;
constexpr std::size_t kVisited = 6;

bool has_lower(const Parameter& p) { return std::isfinite(p.lower); }
bool has_upper(const Parameter& p) { return std::isfinite(p.upper); }

// With one bound half of the points are spread evenly, half of them in logarithms.
std::vector<double> first_values(const Parameter& p, double value, std::size_t count) {
  const double size = extent(p, value), side = has_lower(p) ? 1 : -1;
  std::vector<double> out;
  for (std::size_t k = 0; k < count; ++k) {
    const double u = (static_cast<double>(k) + 0.5) / static_cast<double>(count);
    if (has_lower(p) && has_upper(p))
      out.push_back(p.lower + u * (p.upper - p.lower));
    else if (!has_lower(p) && !has_upper(p))
      out.push_back(value + kWidth * size * (2 * u - 1));
    else
      out.push_back(origin(p) + side * size * (k % 2 ? std::pow(kReach, 2 * u - 1) : kWidth * u));
  }
  std::ranges::sort(out);
  return out;
}

class Scan {
 public:
  Scan(const Engine& engine, const Request& request, const LineScan& line)
      : engine_(engine), request_(request), line_(line) {}

  Candidates run() {
    for (const double x :
         first_values(engine_.parameters()[line_.parameter], line_.through[line_.parameter], line_.first))
      if (auto at = look(x)) points_.push_back(*at);
    refine();
    visit();
    return std::move(out_);
  }

 private:
  struct Point {
    double x, loglik, slope, bend;
    Candidate promise;     // with the value that the parabola promises
    bool settled = false;  // nothing new lies between this and the next
  };

  std::optional<Point> look(double x) {
    std::vector<double> theta = line_.through;
    theta[line_.parameter] = x;
    const auto n = static_cast<Index>(theta.size());
    const Outcome v = engine_.at(theta, Order::information, {}, request_);
    if (!v) return {};
    out_.work += v->work;
    const VectorXd gradient = VectorXd::Map(v->gradient.data(), n);
    const MatrixXd information = MatrixXd::Map(v->information.data(), n, n);
    if (!std::isfinite(v->loglik) || !gradient.allFinite() || !information.allFinite()) return {};
    const QuadraticModel model(gradient, information);
    const VectorXd step = model.step(others(theta));
    for (std::size_t q = 0; q < theta.size(); ++q) theta[q] += step(static_cast<Index>(q));
    best_ = std::max(best_, v->loglik);
    const auto p = static_cast<Index>(line_.parameter);
    return Point{x, v->loglik, gradient(p), std::abs(information(p, p)), {theta, v->loglik + model.gain(step)}};
  }

  // Steps of all parameters but one that at most double them, and stay away from their bounds.
  StepBox others(const std::vector<double>& theta) const {
    const auto n = static_cast<Index>(theta.size());
    StepBox out{VectorXd::Zero(n), VectorXd::Zero(n)};
    for (std::size_t q = 0; q < theta.size(); ++q) {
      if (q == line_.parameter) continue;
      const auto i = static_cast<Index>(q);
      const Parameter& p = engine_.parameters()[q];
      const double size = extent(p, theta[q]);
      out.lower(i) = std::max(0.7 * (p.lower - theta[q]), -size);
      out.upper(i) = std::min(0.7 * (p.upper - theta[q]), size);
    }
    return out;
  }

  // Looks between neighbours, the farthest apart first, until the cubics through them predict what is found.
  void refine() {
    while (points_.size() < line_.most) {
      std::size_t where = points_.size();
      for (std::size_t k = 0; k + 1 < points_.size(); ++k)
        if (!points_[k].settled && may_hide(k) && (where == points_.size() || gap(k) > gap(where))) where = k;
      if (where == points_.size()) return;
      Point& a = points_[where];
      const Point b = points_[where + 1];
      const auto middle = look((a.x + b.x) / 2);
      a.settled = true;
      if (!middle) continue;
      const double predicted = (a.loglik + b.loglik) / 2 + (b.x - a.x) * (a.slope - b.slope) / 8;
      const double promised = (a.promise.loglik + b.promise.loglik) / 2;
      const bool surprise =
          std::abs(middle->loglik - predicted) > kSurprise || std::abs(middle->promise.loglik - promised) > kBreak;
      a.settled = !surprise;
      points_.insert(points_.begin() + static_cast<std::ptrdiff_t>(where) + 1, *middle);
      points_[where + 1].settled = !surprise;
    }
  }
  double gap(std::size_t k) const { return points_[k + 1].x - points_[k].x; }

  // Whether a maximum may lie between neighbours (Breiman and Cutler, Mathematical Programming 58, 1993): nothing bends
  // much more than what has been seen. Where that leaves no room for a rise, a surprise is a jump.
  bool may_hide(std::size_t k) const {
    const double bend = std::max({points_[k].bend, points_[k + 1].bend, line_.bend});
    const double rise = kSafety * bend * gap(k) * gap(k) / 8;
    return promise(k) > best_ - kHopeless && rise > kLeastRise && promise(k) + rise > line_.reached - kHopeless;
  }
  double promise(std::size_t k) const { return std::max(points_[k].promise.loglik, points_[k + 1].promise.loglik); }

  // The values at the places that promise most, each more than its neighbours.
  void visit() {
    std::vector<Candidate> promises;
    for (std::size_t k = 0; k < points_.size(); ++k) {
      const double here = points_[k].promise.loglik;
      if ((k == 0 || here >= points_[k - 1].promise.loglik) &&
          (k + 1 == points_.size() || here >= points_[k + 1].promise.loglik))
        promises.push_back(points_[k].promise);
    }
    sort_best_first(promises);
    promises.resize(std::min(promises.size(), std::max(kVisited, points_.size() / 8)));
    for (const Candidate& promise : promises)
      if (auto best = best_towards(promise.theta)) out_.best.push_back(*best);
    sort_best_first(out_.best);
    out_.best.resize(std::min(out_.best.size(), line_.kept));
  }

  // The whole step, or a part of it.
  std::optional<Candidate> best_towards(const std::vector<double>& theta) {
    std::optional<Candidate> out;
    for (const double share : {1.0, 0.3, 0.0}) {
      Candidate there{line_.through};
      for (std::size_t q = 0; q < theta.size(); ++q)
        there.theta[q] = q == line_.parameter ? theta[q] : std::lerp(there.theta[q], theta[q], share);
      const Outcome v = engine_.at(there.theta, Order::value, {}, request_);
      if (!v || !std::isfinite(v->loglik)) continue;
      out_.work += v->work;
      there.loglik = v->loglik;
      if (!out || there.loglik > out->loglik) out = there;
    }
    return out;
  }

  const Engine& engine_;
  const Request& request_;
  const LineScan& line_;
  std::vector<Point> points_;  // ascending in x
  double best_ = -INFINITY;
  Candidates out_;
};
}  // namespace

void sort_best_first(std::vector<Candidate>& some) {
  std::ranges::stable_sort(some, [](const Candidate& a, const Candidate& b) { return a.loglik > b.loglik; });
}

double origin(const Parameter& p) { return has_lower(p) ? p.lower : has_upper(p) ? p.upper : 0; }

double extent(const Parameter& p, double value) {
  const double out = std::max(std::abs(value - origin(p)), std::abs(p.start - origin(p)));
  return out > 0 ? out : 1;
}

Candidates scan_line(const Engine& engine, const Request& request, const LineScan& line) {
  return Scan(engine, request, line).run();
}
}  // namespace mckean
