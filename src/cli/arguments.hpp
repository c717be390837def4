// What a command was told. One struct serves all commands; which of them takes what, and the defaults, are in the table
// of options.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mckean/model.hpp"
#include "run/parallel.hpp"

namespace mckean::cli {

struct Arguments {
  // Inputs and outputs.
  std::string model, data, name, folder, out, paths, run, config;
  std::vector<std::string> figures, set;
  bool no_run = false;

  // The model and the method. Empty and 0: to be chosen.
  std::string engine, estimator, scheme, levels, particles, law_particles, smoother, gradient, step, most_p, proposal;
  std::string level_weight, length_weight, chain_length, budget, times, parameter, range, scale;
  std::optional<int> level;
  std::uint64_t seed = 1, replicates = 0, iterations = 0, burn_in = 0, chains = 0, starts = 0;
  std::uint64_t repeats = 0, series = 0, count = 0, points = 0;
  double unit = 0, tolerance = 0;
  double first_tolerance = 0;  // with which a run began: what its pilot decides must not change when it is extended
  bool full_normals = false;

  // How it is run and shown.
  std::uint64_t threads = all_cores();
  bool json = false, quiet = false, verbose = false;

  std::set<std::string> given;  // the flags on the command line

  Overrides overrides() const;  // of --set; throws InputError
  // Of particles and law_particles, where they are numbers and no rules.
  std::size_t particle_count() const { return std::stoull(particles); }
  std::size_t law_particle_count() const { return std::stoull(law_particles); }
};
}  // namespace mckean::cli
