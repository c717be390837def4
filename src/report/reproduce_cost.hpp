// What many computations will cost, from the first few of each sort.
#pragma once

#include <map>
#include <string>

namespace mckean {

double processor_seconds();  // of this thread: what else the machine does plays no part

class MeasuredCost {
 public:
  void add(const std::string& sort, double particle_steps, double seconds);  // 0 seconds: it was not timed
  // Of one computation, on average. A sort of which none was timed is as fast as all together.
  double particle_steps(const std::string& sort) const;
  double seconds(const std::string& sort) const;
  bool timed() const { return all_.timed > 0; }
  std::size_t sorts() const { return sums_.size(); }

 private:
  struct Sum {
    double steps = 0, seconds = 0, timed_steps = 0, count = 0, timed = 0;
    void add(double more_steps, double more_seconds);
  };
  Sum all_;
  std::map<std::string, Sum> sums_;
};
}  // namespace mckean
