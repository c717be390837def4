// What a normal step does at every point of a grid, given the averages over the laws.
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

// Within a step, the points of a density: what they read of pairs, and their slopes in the stages so far, as jets.
struct Within {
  std::vector<Columns> pairs, slopes;
};

// For densities of one kind of block.
class FieldReader {
 public:
  FieldReader(const Formulas&, std::size_t kind, std::span<const double> theta);

  std::size_t stages() const { return stages_.size(); }
  void begin(const StepTime&);  // the step that all below is about
  // Cost: that of pairwise interactions.
  Within enter(const GridDensity&, LawDensities);
  // Averages over its law at the points of the next stage, in their places among the jets of all moments.
  void measure(const GridDensity& law, const Within&, std::span<double> moments);
  // Adds the slopes of the next stage, which is not the last, from all moments there.
  void advance(const GridDensity&, Within&, std::span<const double> moments);
  // After all stages but the last.
  Fields fields(const GridDensity&, const Within&, std::span<const double> moments);
  Fields fields_without_flow(const GridDensity&);
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

  struct Stage {
    Frame measure, slope;
  };
  // The jets that a stage leads to.
  Columns run_stage(std::size_t stage, const GridDensity&, const Within&, std::span<const double> moments);

  const Formulas& all_;
  const KindFormulas& formulas_;
  std::vector<Stage> stages_;
  Frame noise_;
  StepTime step_{};
  std::vector<Pair> pairs_;
};
}  // namespace mckean
