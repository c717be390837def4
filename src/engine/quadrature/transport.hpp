// One Euler step of a density, onto a grid that is fine enough for what comes next.
//
// The rectangle rule on a Gaussian of inverse variance v errs by exp(−2π²/(v h²)). What is summed over the new grid is
// a product of Gaussians: the density, whose inverse variance is at most that of the kernel that made it; an
// observation; and the next kernel as a function of where it starts. Where there is little mass, a larger error is
// allowed. All this is in the coordinate z of the grid. Where z is not x, a Gaussian in x is no Gaussian in z; for
// noise s(x) of relative slope ε = |s'| √Δ the grid has to be finer by about 1 + 4ε (for s = cx the Fourier transform
// of the kernel in z = log x / c is bounded by exp(sin²φ/(2ε² cos 2φ) − kφ/c) for every φ < π/4).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "engine/quadrature/placement.hpp"

namespace mckean {

inline constexpr double kWidestCut = 36;  // whose tails double precision still holds

struct Accuracy {
  double resolution = 1;     // grid points, in units of the number that suffices
  double cut = 9;            // standard deviations after which Gaussians end
  double log_error = 39;     // −log of the relative error of a sum over a grid
  double work = 1e8;         // the most that is done in one step: values of a Gaussian, or of a pairwise kernel
  double total = 1e12;       // the most moves of a grid point in one evaluation
  double least() const;      // the share of the peak at which densities end
  double may_cross() const;  // the share of the mass that may get lost beyond a zero of the noise, in each step
  static Accuracy with_error(double of_log_likelihood);
};

// A density, and the Gaussians to which its points will move: none after the last step.
struct MovingDensity {
  GridDensity density;
  std::optional<Fields> fields;
  double variance = 0;  // of the next step, per σ²
  // Inverse variances: of the next kernel as a function of where it starts, of the last observation.
  double kernel = 0, observation = 0;
  bool begins = false;  // these are the Gaussians of a start in x
};

// What happens to a density where it arrives.
struct Arrival {
  double next_variance;                          // of the step from there, per σ²
  bool goes_on;                                  // whether there is one
  std::function<Columns(GridDensity&)> observe;  // returns −∂²log G/∂z² at every point; empty: nothing is observed
  double lattice = 0;                            // of which the grid's step must be a whole fraction; 0: any
};

// A million points do not hold the density, or a step would take too much work.
struct GridTooLarge {};

// Of densities of one kind of block.
class Transport {
 public:
  // Counts moves of a grid point over a step in `grid_steps`, up to accuracy.total.
  Transport(const Formulas&, std::size_t kind, Accuracy, std::uint64_t& grid_steps);

  // Where a density begins: a step from there leads to the start.
  MovingDensity origin(std::size_t parameters);

  // One step, onto finer and finer grids until one is fine enough. Throws GridTooLarge, NoiseVanishes.
  class Move {
   public:
    Move(Transport&, const MovingDensity& from, const Arrival&);  // both outlive it
    MovingDensity spread();                                       // observed, without fields
    bool settles(MovingDensity&);  // once its fields are known; else it has to be spread again

   private:
    GridDensity density() const;

    Transport& transport_;
    const MovingDensity& from_;
    const Arrival& arrival_;
    double sharpness_ = 0, next_ = 0;  // inverse variances: of what arrives, of what is expected to multiply it
    int attempt_ = 0;
  };
  // The same with the fields at the density where it arrives.
  MovingDensity step(const MovingDensity& from, const Arrival&, const std::function<Fields(GridDensity&)>&);

  const Accuracy& accuracy() const { return accuracy_; }
  bool contains(double z) const { return !placement_ || placement_->contains(z); }

 private:
  GridDensity spread_onto(double lo, double h, std::size_t points, const MovingDensity& from);
  double arriving(const MovingDensity& from);
  Reach reach_from(const MovingDensity& from, double h);
  void keep_inside(GridDensity&, double margin);
  template <class F>
  auto named(F&& f) const;  // of f(), whose NoiseVanishes then names the kind

  Accuracy accuracy_;
  std::size_t kind_;
  double start_, start_sd_;
  Coordinate coordinate_;
  std::optional<Placement> placement_;
  Frame bell_;
  std::uint64_t& grid_steps_;
};
}  // namespace mckean
