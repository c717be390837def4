#include "cli/chain_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/command.hpp"
#include "model/number.hpp"
#include "problem/grid.hpp"

namespace mckean::cli {

void require_parameters(const Arguments& o, const Model& m) {
  if (m.parameters().empty())
    throw InputError(fmt::format("{}: the model has no parameters; add a section [parameters]", o.model));
}

std::optional<Smoother> chosen_smoother(const Arguments& o) {
  if (o.smoother.empty()) return std::nullopt;
  return o.smoother == "backward" ? Smoother::backward : Smoother::genealogy;
}

bool finite_difference(const Arguments& o) { return o.gradient == "finite-difference"; }

SmoothOptions smooth_options(const Arguments& o) {
  SmoothOptions out;
  out.level = *o.level;
  out.particles = o.particles, out.law_particles = o.law_particles;
  out.iterations = o.iterations, out.burn_in = o.burn_in, out.chains = o.chains;
  out.smoother = chosen_smoother(o);
  out.seed = o.seed;
  out.full_precision = o.full_normals;
  return out;
}

nlohmann::ordered_json held_json(const Arguments& o, const Model& m, const HeldChains& chains, double seconds) {
  const bool backward = smoother_for(m, chosen_smoother(o)) == Smoother::backward;
  return {{"level", *o.level},
          {"particles", chains.particles},
          {"law_particles", chains.law_particles},
          {"iterations", o.iterations},
          {"burn_in", o.burn_in},
          {"chains", o.chains},
          {"smoother", backward ? "backward" : "genealogy"},
          {"seed", o.seed},
          {"seconds", seconds},
          {"particle_steps", chains.particle_steps},
          {"parameters", parameters_json(m, m.start_values())}};
}

std::pair<int, int> parse_levels(const std::string& text) {
  const std::size_t colon = text.find(':');
  const Number low = parse_number(std::string_view(text).substr(0, colon));
  const Number high = colon == std::string::npos ? low : parse_number(std::string_view(text).substr(colon + 1));
  const auto is_level = [](const Number& n) {
    return n.problem.empty() && n.value >= 0 && n.value <= kHighestLevel && n.value == std::floor(n.value);
  };
  if (!is_level(low) || !is_level(high) || high.value < low.value)
    throw InputError(fmt::format("--levels {}: LOW:HIGH is expected, two levels from 0 to {}, the lower one first",
                                 text, kHighestLevel));
  return {static_cast<int>(low.value), static_cast<int>(high.value)};
}

StepRule parse_step(const std::string& text) {
  StepRule rule;
  double* const fields[] = {&rule.gamma, &rule.n0, &rule.rho};
  std::size_t at = 0, count = 0;
  while (at <= text.size() && count < 3) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const Number n = parse_number(std::string_view(text).substr(at, end - at));
    if (!n.problem.empty()) break;
    *fields[count++] = n.value;
    at = end + 1;
  }
  if (count == 0 || at <= text.size() || !(rule.gamma > 0) || rule.n0 < 0 || !(rule.rho > 0.5 && rule.rho <= 1))
    throw InputError(fmt::format(
        "--step {}: G,N0,RHO is expected with G > 0, N0 >= 0 and 1/2 < RHO <= 1; the step is G*(N0 + n)^-RHO", text));
  return rule;
}
}  // namespace mckean::cli
