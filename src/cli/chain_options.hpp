// Options of the commands with chains, as the library takes them.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/arguments.hpp"
#include "mckean/fit.hpp"

namespace mckean::cli {

void require_parameters(const Arguments&, const Model&);  // throws InputError where there is nothing to estimate
std::optional<Smoother> chosen_smoother(const Arguments&);
bool finite_difference(const Arguments&);
SmoothOptions smooth_options(const Arguments&);  // of chains that hold θ

// What the results of chains that hold θ share.
struct HeldChains {
  std::size_t particles, law_particles;
  std::uint64_t particle_steps;
};
nlohmann::ordered_json held_json(const Arguments&, const Model&, const HeldChains&, double seconds);

std::pair<int, int> parse_levels(const std::string& text);  // "2:4"
StepRule parse_step(const std::string& text);               // "g,n0,rho"
}  // namespace mckean::cli
