// A deterministic program that stands for a fit: batches of tasks with heavy-tailed durations, each depending on the
// results of those before. Prints the bits of its result. Options break it on purpose.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/signals.hpp"
#include "mckean/error.hpp"
#include "mckean/run.hpp"
#include "run/failure.hpp"

namespace {

using namespace mckean;
using Json = nlohmann::ordered_json;

struct Options {
  std::string folder;
  bool resume = false, no_store = false, show = false, deaf = false, fail_early = false, disagree = false;
  std::string model = "the model\nin two lines\n";
  int seed = 1, batches = 6, fail_at = -1, die_at = -1, doubles = 5;
  double scale = 1, budget = 0;  // milliseconds of the shortest task; seconds
  std::size_t threads = 1;
};

// Some number in [0, 1).
double noise(double a, double b, double c) {
  const double x = std::sin(12.9898 * a + 78.233 * b + 37.719 * c) * 43758.5453;
  return x - std::floor(x);
}

void pause(double milliseconds, const std::stop_token& stop) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(milliseconds);
  while (std::chrono::steady_clock::now() < end) {
    if (stop.stop_requested()) throw Stopped{};
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
}

// The synthetic fit: how many tasks a batch has, and what they compute, depends on all results so far.
double fit(const Options& o, int seed, World& world, TaskRunner& runner, FitObserver& observer) {
  double state = seed;
  int number = 0;
  for (int b = 0; b < o.batches && !runner.out_of_time(); ++b) {
    std::vector<Task> tasks(static_cast<std::size_t>(6 + std::floor(10 * noise(state, b, 1))));
    for (std::uint32_t i = 0; i < tasks.size(); ++i)
      tasks[i] = {fmt::format("batch {}", b), i, std::pow(1 - noise(state, b, i + 2), -0.8)};
    if (o.disagree && !world.first()) tasks[0].index = 99;
    observer.progress({"main", static_cast<double>(b), static_cast<double>(o.batches), {state}, {1.0 / (b + 1)}, {}});
    const auto results = runner.run(tasks, [&](std::size_t i, const std::stop_token& stop) {
      const int at = number + static_cast<int>(i);
      if (o.die_at >= 0 && at >= o.die_at && world.rank() == world.size() - 1) std::raise(SIGKILL);
      if (o.fail_early && world.first()) throw NumericalError("this task fails on purpose");
      pause(o.scale * std::min(tasks[i].cost, 30.0), o.deaf ? std::stop_token() : stop);
      if (at == o.fail_at) throw NumericalError("this task fails on purpose");
      std::vector<double> out;
      for (int k = 0; k < o.doubles; ++k) out.push_back(noise(state, b + 0.1 * k, static_cast<double>(i) + 0.5));
      return out;
    });
    number += static_cast<int>(tasks.size());
    for (const auto& r : results)
      for (const double v : r) state += v / (1 + state * state);
    observer.message(fmt::format("batch {} had {} tasks", b, tasks.size()));
  }
  return state;
}

void work(const Options& o, World& world) {
  const cli::StopSignals signals;
  RunOptions options;
  options.interrupted = cli::StopSignals::requested;
  options.threads = o.threads;
  options.show_progress = o.show;
  const RunInput input{Json{{"seed", o.seed}, {"batches", o.batches}}.dump(), o.model, "t,y\n1,2\n"};
  Run run = o.no_store ? Run::without_store(world, input, options)
            : o.resume ? Run::open(world, o.folder, options)
                       : Run::create(world, o.folder, input, options);
  run.name_parameters({"state"});
  if (o.budget > 0) run.set_budget(o.budget);
  double result = 0;
  try {
    result = fit(o, Json::parse(run.input().settings)["seed"], world, run.runner(), run.observer());
  } catch (const Stopped&) {
    if (world.first()) fmt::print(stderr, "synthetic: {}\n", run.stopped_text());
    throw;
  }
  run.finish(Json{{"value", result}}.dump());
  if (world.first()) fmt::print("{:a}\n", result);
}

int complain(World& world, int status, const std::string& message) {
  if (world.first()) fmt::print(stderr, "synthetic: {}\n", message);
  if (!world.all_failed() && !world.first()) fmt::print(stderr, "synthetic: rank {}: {}\n", world.rank(), message);
  return status;
}
}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app;
  app.add_option("FOLDER", o.folder);
  app.add_flag("--resume", o.resume);
  app.add_flag("--no-store", o.no_store);
  app.add_flag("--show", o.show);
  app.add_flag("--deaf", o.deaf, "tasks do not look at the stop token");
  app.add_flag("--fail-early", o.fail_early, "the first task on rank 0 fails");
  app.add_flag("--disagree", o.disagree, "other ranks ask for other tasks than rank 0");
  app.add_option("--model", o.model);
  app.add_option("--seed", o.seed);
  app.add_option("--batches", o.batches);
  app.add_option("--fail-at", o.fail_at);
  app.add_option("--die-at", o.die_at);
  app.add_option("--doubles", o.doubles);
  app.add_option("--scale", o.scale);
  app.add_option("--budget", o.budget);
  app.add_option("--threads", o.threads);
  CLI11_PARSE(app, argc, argv);
  World world;
  try {
    work(o, world);
    return 0;
  } catch (const Stopped&) {
    world.all_failed();
    return 130;
  } catch (const InputError& e) {
    return complain(world, 2, e.what());
  } catch (const std::exception& e) {
    return complain(world, 1, e.what());
  }
}
