// An observation multiplies a filter's density by its own.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "engine/quadrature/formulas.hpp"
#include "engine/quadrature/grid_density.hpp"

namespace mckean {

// The observation lies where the density was cut off: everything is repeated with a wider cut.
struct CutTooShort {};

struct Weighed {
  std::vector<double> log_total;  // jet of log ∫ G dp, p the density before
  Columns curvature;              // −∂²log G/∂z² at every point
  double depth;                   // mean of log(peak of p / p) after it: how far in its tail the observation lies
};

// What is observed of a block at some time.
struct BlockRow {
  const Block& block;
  double t;
  std::vector<double> values;          // of the block's columns; NaN: not observed
  std::function<std::string()> where;  // for messages
};

class Weigher {
 public:
  Weigher(const Formulas&, std::span<const double> theta, double temper);  // G^temper instead of G

  // Multiplies by G and normalises. Masses below `least` times the peak are not trusted: throws CutTooShort where they
  // matter. Throws NumericalError: where and what is wrong.
  Weighed weigh(GridDensity&, const BlockRow&, double least);

 private:
  Columns log_density(const GridDensity&, const BlockRow&);
  [[noreturn]] void fail(const GridDensity&, const BlockRow&, const std::string& why) const;

  const Formulas& formulas_;
  std::span<const double> theta_;
  double temper_;
  std::vector<std::vector<Frame>> frames_;  // by view and column
};
}  // namespace mckean
