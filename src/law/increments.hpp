// Brownian increments for many particles: fresh ones, and the sums of fine ones that drive a coarse level.
#pragma once

#include <functional>

#include "law/columns.hpp"
#include "noise/noise.hpp"

namespace mckean {

// Writes the normals of one step and one source of noise for particles first .. first + count − 1.
using NoiseSource =
    std::function<void(std::size_t step, std::size_t source, std::size_t first, std::size_t count, double* out)>;

// One normal alone.
using SingleNoise = std::function<double(std::size_t step, std::size_t source, std::size_t particle)>;

// The normals of a stream; step k uses number first_step + k.
struct FreshNoise {
  const Kernels& kernels;
  NormalPrecision precision;
  Stream stream;
  std::size_t first_step, sources;

  void operator()(std::size_t k, std::size_t j, std::size_t first, std::size_t count, double* out) const {
    normals(kernels, precision, stream, column(k, j), first, count, out);
  }
  double operator()(std::size_t k, std::size_t j, std::size_t particle) const {
    return normal(kernels, precision, stream, column(k, j), particle);
  }

 private:
  Column column(std::size_t k, std::size_t j) const {
    return {static_cast<std::uint32_t>(first_step + k), static_cast<std::uint32_t>(j),
            static_cast<std::uint32_t>(sources)};
  }
};

// Two levels driven by one Brownian path: √(2Δ) z = √Δ (z' + z''). Fine steps 2k and 2k + 1 must be asked for before
// the coarse step k.
class CoupledNoise {
 public:
  CoupledNoise(FreshNoise fresh, std::size_t coarse_particles)
      : fresh_(fresh), sums_(fresh_.sources, coarse_particles) {}

  NoiseSource fine();
  NoiseSource coarse();
  double coarse_single(std::size_t k, std::size_t j, std::size_t particle) const;
  double fine_single(std::size_t k, std::size_t j, std::size_t particle) const { return fresh_(k, j, particle); }

 private:
  FreshNoise fresh_;
  Columns sums_;
};
}  // namespace mckean
