// Options that every command with chains takes.
#pragma once

#include "cli/command.hpp"
#include "mckean/fit.hpp"

namespace mckean::cli {

struct ChainCommand : CommonOptions {
  std::string model, data;
  std::string particles = "100", law_particles = "500", smoother, gradient = "tangent";
  double unit = 0;
  bool full_normals = false;
  std::size_t threads;

  ChainCommand();
  void add_to(CLI::App&);
  void add_gradient_to(CLI::App&);              // for commands that differentiate
  void require_parameters(const Model&) const;  // throws InputError where there is nothing to estimate
  std::optional<Smoother> chosen_smoother() const;
  bool finite_difference() const { return gradient == "finite-difference"; }
};

// Options of the commands whose chains hold θ.
struct HeldChainCommand : ChainCommand {
  void add_to(CLI::App&, std::size_t least_chains);
  SmoothOptions smooth_options() const;

  // What their results share.
  nlohmann::ordered_json common_json(const Model& m, const auto& result, double seconds) const {
    const bool backward = smoother_for(m, chosen_smoother()) == Smoother::backward;
    return {{"level", path.level},
            {"particles", result.particles},
            {"law_particles", result.law_particles},
            {"iterations", path.iterations},
            {"burn_in", path.burn_in},
            {"chains", path.chains},
            {"smoother", backward ? "backward" : "genealogy"},
            {"seed", seed},
            {"seconds", seconds},
            {"particle_steps", result.particle_steps},
            {"parameters", parameters_json(m, m.start_values())}};
  }

  SmoothOptions path;  // what is set here alone: level and lengths
};

std::pair<int, int> parse_levels(const std::string& text);  // "2:4"
StepRule parse_step(const std::string& text);               // "g,n0,rho"
}  // namespace mckean::cli
