// How a law is run: one cloud along its grid.
#pragma once

#include "law/law.hpp"

namespace mckean {

// What all laws of one call share.
struct LawSetting {
  const System& system;
  const LawNoise& noise;
  const LawOptions& options;
  const Kernels& kernels;
  std::size_t rank;

  std::shared_ptr<const Dynamics> dynamics(const Grid& grid) const {
    return system.dynamics(grid.scheme, rank, options.derivative == Derivative::tangent);
  }
  FreshNoise path_noise(const Dynamics& d, FreshNoise::Buffer buffer = FreshNoise::Buffer::blocks) const {
    return {{kernels, options.precision, noise.path, 0, d.sources}, options.particles, buffer};
  }
};

// Checked at every grid point, and shown to the watcher. Both steps are good, or rank_too_low; they throw Explosion.
class LawRun {
 public:
  // `windows`: use those of another law.
  LawRun(const LawSetting&, const Dynamics&, const LawPoint&, std::size_t particles, LawWatcher,
         const LawPath* windows = nullptr);

  LawStatus start();
  LawStatus step(std::size_t k, NoiseSource&);

 private:
  [[noreturn]] void overflow(std::size_t k, const char* who) const;
  LawStatus arrive(std::size_t k);

  const LawSetting& setting_;
  LawPoint at_;
  Cloud cloud_;
  LawWatcher watch_;
  const LawPath* windows_;
  std::vector<double> given_;
};

LawPath empty_law_path(std::shared_ptr<const Dynamics>, std::size_t particles, const Grid&);
// Writes what it is shown into a path.
LawWatcher recorder(LawPath&);
}  // namespace mckean
