// Options that every command with chains takes.
#pragma once

#include "cli/command.hpp"
#include "estimate/chain.hpp"
#include "estimate/rule.hpp"

namespace mckean::cli {

struct ChainCommand : CommonOptions {
  std::string model, data;
  std::string particles = "100", law_particles = "500", smoother, gradient = "tangent";
  double unit = 0;
  bool full_normals = false;
  std::size_t threads;

  ChainCommand();
  void add_to(CLI::App&);
  void require_parameters(const Model&) const;  // throws InputError where there is nothing to estimate
  // The chain's settings; its numbers of particles come from the rules.
  ChainOptions chain(const Model&) const;
  void set_particles(ChainOptions&, int level, int highest, std::size_t times) const;
};

std::pair<int, int> parse_levels(const std::string& text);  // "2:4"
StepRule parse_step(const std::string& text);               // "g,n0,rho"
}  // namespace mckean::cli
