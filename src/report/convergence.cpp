#include "report/convergence.hpp"

#include <algorithm>
#include <cmath>

#include "model/unconstrained.hpp"
#include "report/thin.hpp"

namespace mckean::report {
namespace {

using Eigen::Index, Eigen::VectorXd;

constexpr std::size_t kPoints = 60;

// Sums of the first values, taken further as more are wanted.
class Moments {
 public:
  explicit Moments(std::size_t n) : mean_(n), squares_(n) {}
  void take(const std::vector<double>& v) {
    ++count_;
    for (std::size_t p = 0; p < v.size(); ++p) {
      const double before = v[p] - mean_[p];
      mean_[p] += before / static_cast<double>(count_);
      squares_[p] += before * (v[p] - mean_[p]);
    }
  }
  std::size_t count() const { return count_; }
  double mean(std::size_t p) const { return mean_[p]; }
  double variance_of_mean(std::size_t p) const {
    const double n = static_cast<double>(count_);
    return count_ > 1 ? squares_[p] / (n - 1) / n : std::nan("");
  }

 private:
  std::size_t count_ = 0;
  std::vector<double> mean_, squares_;
};

std::vector<Running> of_replicates(const Facts& f) {
  std::vector<Running> out;
  Moments moments(f.theta.size());
  double steps = 0;
  for (const std::size_t n : spread_log(f.replicates.size(), kPoints)) {
    while (moments.count() < n) {
      steps += f.replicate_steps[moments.count()];
      moments.take(f.replicates[moments.count()]);
    }
    Running r{n, steps, {}, {}};
    for (std::size_t p = 0; p < f.theta.size(); ++p) {
      r.value.push_back(moments.mean(p));
      r.error.push_back(std::sqrt(moments.variance_of_mean(p)));
    }
    out.push_back(std::move(r));
  }
  return out;
}

// As the stratified estimator has it: a variance from n replicates is itself uncertain.
double for_few(std::size_t count) {
  const double n = static_cast<double>(count);
  return n > 3 ? (n - 1) / (n - 3) : 1;
}

std::vector<Running> of_cells(const Input& input, const Facts& f, const VectorXd& centre) {
  std::vector<Running> out;
  std::size_t most = 0;
  for (const CellDraws& d : f.draws) most = std::max(most, d.difference.size());
  std::vector<Moments> moments(f.draws.size(), Moments(f.theta.size()));
  double steps = 0;
  std::size_t count = 0;
  for (const std::size_t n : spread_log(most, kPoints)) {
    VectorXd u = centre, variance = VectorXd::Zero(centre.size());
    for (std::size_t c = 0; c < f.draws.size(); ++c) {
      const CellDraws& d = f.draws[c];
      const auto wanted = static_cast<std::size_t>(std::ceil(
          static_cast<double>(d.difference.size()) * static_cast<double>(n) / static_cast<double>(most) - 1e-9));
      for (; moments[c].count() < wanted; ++count) {
        steps += d.particle_steps[moments[c].count()];
        moments[c].take(d.difference[moments[c].count()]);
      }
      for (Index p = 0; p < u.size(); ++p) {
        u[p] += moments[c].mean(static_cast<std::size_t>(p));
        variance[p] += moments[c].variance_of_mean(static_cast<std::size_t>(p)) * for_few(moments[c].count());
      }
    }
    const VectorXd error = slopes(input.model.parameters(), u).cwiseAbs().cwiseProduct(variance.cwiseSqrt());
    out.push_back({count, steps, natural(input.model.parameters(), u), {error.begin(), error.end()}});
  }
  return out;
}
}  // namespace

std::vector<Running> convergence(const Input& input, const Facts& f) {
  if (!f.replicates.empty()) return of_replicates(f);
  const auto& notes = input.run["notes"];
  if (f.draws.empty() || !notes.contains("pilot") || !notes["pilot"].contains("centre")) return {};
  const auto centre = notes["pilot"]["centre"].get<std::vector<double>>();
  return of_cells(input, f, unconstrained(input.model.parameters(), centre));
}
}  // namespace mckean::report
