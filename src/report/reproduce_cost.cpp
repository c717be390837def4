#include "report/reproduce_cost.hpp"

#include <algorithm>
#include <ctime>

namespace mckean {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void MeasuredCost::Sum::add(double more_steps, double more_seconds) {
  steps += more_steps, seconds += more_seconds, ++count;
  if (more_seconds > 0) timed_steps += more_steps, ++timed;
}

void MeasuredCost::add(const std::string& sort, double particle_steps, double seconds) {
  sums_[sort].add(particle_steps, seconds);
  all_.add(particle_steps, seconds);
}

double MeasuredCost::particle_steps(const std::string& sort) const {
  const Sum& sum = sums_.at(sort);
  return sum.steps / sum.count;
}

double MeasuredCost::seconds(const std::string& sort) const {
  const Sum& sum = sums_.at(sort);
  if (sum.timed > 0) return sum.seconds / sum.timed;
  return particle_steps(sort) * all_.seconds / std::max(1.0, all_.timed_steps);
}
}  // namespace mckean
