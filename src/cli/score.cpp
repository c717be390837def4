#include <fmt/format.h>

#include <cmath>

#include "cli/chain_options.hpp"
#include "estimate/information.hpp"
#include "mckean/data.hpp"
#include "run/parallel.hpp"

namespace mckean::cli {
namespace {

struct Options : ChainCommand {
  int level = 5;
  std::size_t iterations = 200, burn_in = 20, chains = 8;
};

void run(const Options& o) {
  const Stopwatch clock;
  const Model model = read_model(o.model, o.overrides());
  const Data data = read_data(o.data, model.columns());
  o.require_parameters(model);
  ChainOptions chain = o.chain(model);
  chain.burn_in = o.burn_in;
  const Problem problem(model, data, o.unit, o.level, o.seed);
  o.set_particles(chain, o.level, o.level, problem.schedule(o.level).grid.points.size());
  std::vector<HeldMoments> held(o.chains);
  parallel_for(o.chains, o.threads, [&](std::size_t r) {
    held[r] = hold(problem, chain, {o.seed, static_cast<std::uint32_t>(r), o.level},
                   {.iterations = o.iterations, .curvature = false});
  });
  const HeldMoments mean = average(held);
  Eigen::VectorXd variance = Eigen::VectorXd::Zero(mean.score.size());
  for (const auto& h : held)
    variance += (h.score - mean.score).cwiseAbs2() / static_cast<double>((o.chains - 1) * o.chains);

  nlohmann::ordered_json score = nlohmann::ordered_json::object();
  for (std::size_t p = 0; p < model.parameters().size(); ++p) {
    const auto i = static_cast<Eigen::Index>(p);
    score[model.parameters()[p].name] = {{"value", mean.score[i]}, {"se", std::sqrt(variance[i])}};
  }
  if (o.json)
    return print_json({{"score", score},
                       {"level", o.level},
                       {"particles", chain.particles},
                       {"law_particles", chain.law_particles},
                       {"iterations", o.iterations},
                       {"burn_in", o.burn_in},
                       {"chains", o.chains},
                       {"gradient", o.gradient},
                       {"smoother", chain.smoother == Smoother::backward ? "backward" : "genealogy"},
                       {"seed", o.seed},
                       {"seconds", clock.seconds()},
                       {"particle_steps", mean.particle_steps},
                       {"parameters", parameters_json(model, chain.start)}});
  fmt::print("{:<16} {:>14} {:>12} {:>12}\n", "parameter", "at", "score", "std. error");
  for (std::size_t p = 0; p < model.parameters().size(); ++p) {
    const auto i = static_cast<Eigen::Index>(p);
    fmt::print("{:<16} {:>14.6g} {:>12.6g} {:>12.2g}\n", model.parameters()[p].name, chain.start[p], mean.score[i],
               std::sqrt(variance[i]));
  }
  fmt::print("level {}, {} chains of {} iterations, {} particles, {} law particles, seed {}\n", o.level, o.chains,
             o.iterations, chain.particles, chain.law_particles, o.seed);
}
}  // namespace

void add_score(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("score", "gradient of the log-likelihood at the model's parameter values");
  o->add_to(*command);
  command->add_option("--level", o->level, "a unit of time is split into 2^level Euler steps")
      ->check(whole_number(0, kHighestLevel))
      ->capture_default_str();
  command->add_option("--iterations", o->iterations, "iterations of each chain that are averaged")
      ->check(whole_number(1, kMostIterations))
      ->capture_default_str();
  command->add_option("--burn-in", o->burn_in, "iterations before them")
      ->check(whole_number(0, kMostIterations))
      ->capture_default_str();
  command->add_option("--chains", o->chains, "independent chains, whose spread gives the standard error")
      ->check(whole_number(2, kMostRepeats))
      ->capture_default_str();
  command->callback([o] { run(*o); });
}
}  // namespace mckean::cli
