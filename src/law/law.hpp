// Laws of interacting particles along a grid: Algorithm 1, and Algorithm 3 for two levels at once.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "law/cloud.hpp"
#include "mckean/error.hpp"
#include "problem/grid.hpp"

namespace mckean {

enum class Derivative { none, tangent, finite_difference };

struct LawOptions {
  std::size_t particles = 1000;
  Derivative derivative = Derivative::none;
  NormalPrecision precision = NormalPrecision::single;
  double margin = 1;           // how far windows of expansions reach beyond the particles, in half-ranges
  std::size_t first_rank = 0;  // index into System::ranks() to begin with
  CellChoice cells = CellChoice::by_cost;
};

// Where a law is drawn.
struct LawPoint {
  const Grid& grid;
  std::span<const double> theta;
};

// The streams that a law draws from.
struct LawNoise {
  Stream start, path;
};

// What a drift needs to know of a law, at every point of the grid.
struct LawPath {
  std::shared_ptr<const Dynamics> dynamics;
  std::size_t particles = 0, points = 0;
  Columns inputs;    // MeanField::inputs, one column each, a row for each point
  Columns tangents;  // their derivatives, parameter by parameter
  // Where an interaction is pairwise, the particles themselves, point by point: the columns x, then S.
  // Or, where it is expanded on cells, what they hold at every point from which a step flows.
  std::vector<double> positions;
  std::size_t position_columns = 0;
  std::vector<std::shared_ptr<const CellMoments>> cells;

  void append_inputs(std::size_t point, std::vector<double>& to) const;
  std::size_t stride() const { return (particles + kLanes - 1) / kLanes * kLanes; }  // whole vectors
  const double* position(std::size_t point, std::size_t column) const {
    return positions.data() + (point * position_columns + column) * stride();
  }
};

// The dynamics have no finite value at these parameters and this level.
struct Explosion : NumericalError {
  using NumericalError::NumericalError;
};

// A law's particles (or others that read a law) left the range of double precision: throws
// Explosion, which names time, level and parameters.
[[noreturn]] void report_overflow(const Model&, std::span<const double> theta, int level, double time, const char* who);

// Cost: O(N) per step in moments form and on cells, O(N²) where an interaction is pairwise.
LawPath draw_law(const System&, const Grid&, std::span<const double> theta, const LawNoise&, const LawOptions&,
                 const Kernels& = kernels());

// Runs a law with the first rank of the options and shows every grid point, recording nothing.
using LawWatcher = std::function<void(std::size_t point, const Cloud&)>;
LawStatus run_law(const System&, const LawPoint&, const LawNoise&, const LawOptions&, const LawWatcher&,
                  const Kernels& = kernels());

// The same of two laws, from fine and coarse steps and the same Brownian paths.
LawStatus run_coupled_laws(const System&, const LawPoint& fine, const LawPoint& coarse, const LawNoise&,
                           const LawOptions&, const std::pair<LawWatcher, LawWatcher>&, const Kernels& = kernels());

// Fine and coarse law from the same Brownian paths: `coarse_particles` <= options.particles of the fine particles
// also run on the coarse grid (every second point), with parameters of their own.
std::pair<LawPath, LawPath> draw_coupled_laws(const System&, const LawPoint& fine, const LawPoint& coarse,
                                              const LawNoise&, const LawOptions&, std::size_t coarse_particles,
                                              const Kernels& = kernels());

// Index of the rank that a law at theta needs, so that draws need not find it one by one.
std::size_t find_rank(const System&, const Grid&, std::span<const double> theta, const LawNoise&, const LawOptions&);
}  // namespace mckean
