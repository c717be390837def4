#include "cli/chain_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/number.hpp"
#include "problem/grid.hpp"
#include "run/parallel.hpp"

namespace mckean::cli {

ChainCommand::ChainCommand() : threads(all_cores()) {}

void ChainCommand::add_to(CLI::App& app) {
  app.add_option("MODEL", model, "model file")->required();
  app.add_option("DATA", data, "data file (CSV)")->required();
  app.add_option("--particles", particles, "particles of the smoother, a number or a rule of l, L and T")
      ->capture_default_str();
  app.add_option("--law-particles", law_particles, "particles of the law, a number or a rule such as l*L")
      ->capture_default_str();
  app.add_option(
         "--smoother", smoother,
         "backward (new ancestors by their density) or genealogy (as in the paper); default: backward, but genealogy "
         "for --estimator paper")
      ->check(CLI::IsMember({"backward", "genealogy"}));
  app.add_option("--unit", unit, "unit of time (default: the median spacing of the observations)")
      ->check(positive_number());
  app.add_flag("--full-normals", full_normals, "64-bit instead of 32-bit normal variates");
  app.add_option("--threads", threads, "threads (default: all cores)")->check(whole_number(1, kMostThreads));
  CommonOptions::add_to(app);
}

void ChainCommand::add_gradient_to(CLI::App& app) {
  app.add_option("--gradient", gradient, "derivative of the law: tangent, or finite-difference as in the paper")
      ->check(CLI::IsMember({"tangent", "finite-difference"}))
      ->capture_default_str();
}

void ChainCommand::require_parameters(const Model& m) const {
  if (m.parameters().empty())
    throw InputError(fmt::format("{}: the model has no parameters; add a section [parameters]", model));
}

std::optional<Smoother> ChainCommand::chosen_smoother() const {
  if (smoother.empty()) return std::nullopt;
  return smoother == "backward" ? Smoother::backward : Smoother::genealogy;
}

void HeldChainCommand::add_to(CLI::App& app, std::size_t least_chains) {
  ChainCommand::add_to(app);
  app.add_option("--level", path.level, "a unit of time is split into 2^level Euler steps")
      ->check(whole_number(0, kHighestLevel))
      ->capture_default_str();
  app.add_option("--iterations", path.iterations, "iterations of each chain that are used")
      ->check(whole_number(1, kMostIterations))
      ->capture_default_str();
  app.add_option("--burn-in", path.burn_in, "iterations before them")
      ->check(whole_number(0, kMostIterations))
      ->capture_default_str();
  app.add_option("--chains", path.chains, "independent chains")
      ->check(whole_number(least_chains, kMostRepeats))
      ->capture_default_str();
}

SmoothOptions HeldChainCommand::smooth_options() const {
  SmoothOptions o = path;
  o.particles = particles, o.law_particles = law_particles;
  o.smoother = chosen_smoother();
  o.seed = seed;
  o.full_precision = full_normals;
  return o;
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
