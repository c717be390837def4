// Brownian increments for many particles: fresh ones, and the sums of fine ones that drive a coarse level.
#pragma once

#include <span>
#include <vector>

#include "noise/columns.hpp"
#include "noise/noise.hpp"
#include "program/program.hpp"

namespace mckean {

class NoiseSource {
 public:
  virtual ~NoiseSource() = default;

  // The normals of one step and one source of noise for particles first, first + 1, ... of one block; `first` is a
  // multiple of kBlock. They stay until more are asked for.
  virtual const double* block(std::size_t step, std::size_t source, std::size_t first) = 0;

  // Single ones with the same bits, each of its own step and particle.
  virtual void single(std::size_t source, std::span<const StepOfParticle> at, double* out) = 0;
};

// Where fresh normals come from; step k uses number first_step + k.
struct NoiseOrigin {
  const Kernels& kernels;
  NormalPrecision precision;
  Stream stream;
  std::size_t first_step, sources;

  Column column(std::size_t k, std::size_t j, std::size_t steps) const {
    return {static_cast<std::uint32_t>(first_step + k), static_cast<std::uint32_t>(j),
            static_cast<std::uint32_t>(sources), static_cast<std::uint32_t>(steps)};
  }
};

// The normals of a stream. Few particles get those of several steps at once: else a call, and the time that one tile
// takes alone, would cost more than the work itself.
class FreshNoise : public NoiseSource {
 public:
  // Pairs: steps 2k and 2k + 1 of all particles are held together.
  enum class Buffer { blocks, pairs };
  FreshNoise(const NoiseOrigin&, std::size_t particles, Buffer = Buffer::blocks);

  const double* block(std::size_t k, std::size_t j, std::size_t first) override {
    Held& held = held_[j];
    if (k - held.step >= steps_ || first - held.first >= rows_) fill(held, k, j, first);
    return z_[j] + (k - held.step) * rows_ + (first - held.first);
  }
  void single(std::size_t j, std::span<const StepOfParticle> at, double* out) override;
  std::size_t sources() const { return held_.size(); }

 private:
  struct Held {
    std::size_t step, first;  // the first of each
  };
  void fill(Held&, std::size_t k, std::size_t j, std::size_t first);

  NoiseOrigin origin_;
  std::size_t particles_, rows_, steps_;  // all; those held at a time, and at how many steps
  Columns z_;                             // a column for each source, step after step
  std::vector<Held> held_;
};

// Two levels driven by one Brownian path: √(2Δ) z = √Δ (z' + z''). `fine` holds pairs, for as many particles or more.
class CoarseNoise : public NoiseSource {
 public:
  CoarseNoise(FreshNoise& fine, std::size_t particles);

  const double* block(std::size_t k, std::size_t j, std::size_t first) override;
  void single(std::size_t j, std::span<const StepOfParticle> at, double* out) override;

 private:
  FreshNoise& fine_;
  std::size_t particles_;
  Columns z_;
  std::vector<StepOfParticle> halves_;
  std::vector<double> parts_;
};
}  // namespace mckean
