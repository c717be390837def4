// What an Euler step does at every point of a grid, given the averages over the law.
#pragma once

#include <span>

#include "engine/quadrature/convolution.hpp"
#include "engine/quadrature/grid_density.hpp"
#include "problem/grid.hpp"

namespace mckean {

// The step from x is N(mean(x), sd(x)²), where the mean depends on the dynamic parameters.
struct Fields {
  Columns mean;  // its jet
  Columns sd;    // one column
};

using LawDensities = std::span<const GridDensity* const>;  // by kind; null where nothing is averaged over its law

// For densities of one kind of block.
class FieldReader {
 public:
  FieldReader(const Formulas&, std::size_t kind, std::span<const double> theta);

  // Averages over its law, in their places among the jets of all moments.
  void measure(const GridDensity& law, double t, std::span<double> moments);
  // The step that the next ones are about.
  void set_step(std::span<const double> moments, const StepTime&);
  // Cost: points, and that of pairwise interactions.
  Fields fields(const GridDensity&, LawDensities);
  // Values of a pairwise kernel, or what costs as much.
  double pairs(const GridDensity&, LawDensities) const;

 private:
  struct Pair {
    const PairFormulas& formulas;
    Frame frame;
    std::optional<Convolution> convolution;
    bool convolves(const GridDensity&, const GridDensity& law) const;
    Columns averages(const GridDensity&, const GridDensity& law, double t);
  };

  const Formulas& all_;
  const KindFormulas& formulas_;
  Frame step_, measure_;
  double t_ = 0;
  std::vector<double> uniforms_;
  std::vector<Pair> pairs_;
};
}  // namespace mckean
