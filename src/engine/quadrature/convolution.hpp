// Averages over the law of kernels K(x − x') on uniform grids, by fast Fourier transforms.
#pragma once

#include <complex>
#include <memory>
#include <span>

#include "engine/quadrature/formulas.hpp"
#include "engine/quadrature/grid_density.hpp"

namespace mckean {

// Σ_j K(x_i − x_j) mass_j at the points of a grid whose step is a whole fraction 1/q of the law's, with derivatives:
// the sums of PairFormulas::pair, up to rounding. The q shifted lattices of the points are convolved one by one.
// Cost: q (n/q + N) log(n/q + N) for n points and N of the law, for each entry of the jets.
class Convolution {
 public:
  Convolution(const PairFormulas&, std::size_t parameters, std::span<const double> theta);  // that have `difference`
  Convolution(Convolution&&) noexcept;
  ~Convolution();

  // Whether it serves these grids, and is worth its while.
  static bool serves(const GridDensity& density, const GridDensity& law);
  Columns sums(const GridDensity& density, const GridDensity& law, double t);

 private:
  using Spectrum = std::vector<std::complex<double>>;
  struct Transform;

  void read_law(const GridDensity& law, std::size_t length);
  void read_kernel(double first, double step, std::size_t before, std::size_t after);
  Spectrum product(std::size_t kernel, std::size_t a, std::size_t b) const;

  std::size_t kernels_, parameters_;
  const std::vector<bool>& zero_;
  Frame frame_;
  std::unique_ptr<Transform> transform_;
  std::vector<double> in_;
  std::vector<Spectrum> mass_, kernel_;  // by entry, and by entry and kernel; empty where it is 0
};
}  // namespace mckean
