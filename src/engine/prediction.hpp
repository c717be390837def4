// Mean and variance of the next observation, given points that predict the state.
#pragma once

#include "mckean/model.hpp"
#include "noise/columns.hpp"
#include "program/program.hpp"

namespace mckean {

// E[y | x] and Var[y | x] of the observed columns whose distribution has a name (a bare log density has neither).
class Prediction {
 public:
  explicit Prediction(const Model&);
  // Of some of its components; the model's graph may grow.
  Prediction(const Model&, const std::vector<Expr>& x, std::span<const ObservedColumn>);

 private:
  friend class PredictionFrame;
  std::size_t dimension_;
  std::vector<std::size_t> columns_;  // those with moments
  Program program_;                   // columns: x | uniforms: t | outputs: mean and variance of each
};

class PredictionFrame {
 public:
  PredictionFrame(const Prediction&, const Kernels&);
  void set_parameters(std::span<const double> theta) { frame_.set_fixed(theta); }

  // States, equally likely or with the given weights, which sum to 1.
  struct Points {
    const Columns& x;
    std::size_t count;
    const double* weights = nullptr;
  };
  // For each observed column (y − E y)/sd(y) under the mixture over the points; NaN where y is missing or the moments
  // do not exist.
  void errors(double t, std::span<const double> values, const Points&, std::vector<double>& to);

 private:
  const Prediction& prediction_;
  Frame frame_;
  AlignedBuffer memory_;
};
}  // namespace mckean
