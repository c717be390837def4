// A model with data: what every computation is about.
#pragma once

#include <memory>

#include "mckean/data.hpp"
#include "mckean/model.hpp"

namespace mckean {

// Owns both, and what was compiled from them, once. A cheap handle, safe to copy and to share between threads.
class Problem {
 public:
  // unit: of time, that a level splits into 2^level steps; 0: the median spacing of the observations. Throws
  // InputError: values that the model cannot have produced.
  Problem(Model, Data, double unit = 0);

  const Model& model() const;
  const Data& data() const;
  double unit() const;  // as given

  struct Compiled;  // the library's own view
  const Compiled& compiled() const { return *compiled_; }

 private:
  std::shared_ptr<const Compiled> compiled_;
};
}  // namespace mckean
