// The command `mckean`: parses the command line, runs one subcommand, turns exceptions into exit status.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "cli/command.hpp"
#include "expr/parse.hpp"
#include "mckean/error.hpp"
#include "mckean/tasks.hpp"
#include "program/kernels.hpp"

namespace {

constexpr int kFailed = 1, kBadInput = 2, kUnreliable = 3, kInterrupted = 130;

// Of ranks that all fail, the first speaks; one that fails alone says which it is, and ends the others.
int complain(mckean::World& world, int status, const std::string& message) {
  if (world.first()) fmt::print(stderr, "mckean: {}\n", message);
  std::fflush(stderr);
  if (!world.all_failed() && !world.first())
    fmt::print(stderr, "mckean: rank {} on {}: {}\n", world.rank(), world.host(), message);
  return status;
}

// A message that begins with the name of a setting, as the option of that name: "--law-particles 0: …".
std::string as_option(std::string message) {
  std::replace(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(message.find(' ')), '_', '-');
  return "--" + message;
}

// What is wrong with the command line, and where help is.
std::string usage_problem(const CLI::App& app, const CLI::ParseError& e, const std::string& first) {
  if (!app.get_subcommands().empty()) {
    const CLI::App& command = *app.get_subcommands()[0];
    const bool extras = e.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    return fmt::format("{}; see 'mckean {} --help'",
                       extras ? fmt::format("not expected: {}", fmt::join(command.remaining(), " ")) : e.what(),
                       command.get_name());
  }
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands(nullptr)) known.push_back(command->get_name());
  if (first.empty()) return fmt::format("a command is required: {}; see 'mckean --help'", fmt::join(known, ", "));
  if (first.starts_with('-'))
    return fmt::format("'{}' is not understood: a command comes first, one of {}", first, fmt::join(known, ", "));
  return fmt::format("there is no command '{}'; {}", first, mckean::suggestion(first, known));
}

int run_command(mckean::World& world, int argc, char** argv) {
  using namespace mckean::cli;
  CLI::App app("Maximum-likelihood estimation for partially observed McKean-Vlasov diffusions.", "mckean");
  app.set_version_flag("--version", fmt::format("mckean {} ({} vector instructions; {})", MCKEAN_VERSION,
                                                mckean::kernels().name, mckean::mpi_version()));
  app.require_subcommand(1);
  for (const auto add : {add_new, add_check, add_simulate, add_loglik, add_score, add_smooth, add_fit, add_profile,
                         add_resume, add_export, add_report, add_runs, add_reproduce})
    add(app, world);
  const auto flushed = [&world](int status) {
    if (std::fflush(stdout) == 0) return status;
    return complain(world, kFailed, "the result could not be written to stdout; is it full?");
  };
  try {
    app.parse(argc, argv);
    return flushed(0);
  } catch (const Unreliable&) {
    return flushed(kUnreliable);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return complain(world, kBadInput, usage_problem(app, e, argc > 1 ? argv[1] : ""));
  } catch (const mckean::SettingError& e) {
    return complain(world, kBadInput, as_option(e.what()));
  } catch (const mckean::InputError& e) {
    return complain(world, kBadInput, e.what());
  } catch (const mckean::Stopped&) {
    world.all_failed();  // the command has said what there is to say
    return kInterrupted;
  } catch (const mckean::RunError& e) {
    return complain(world, kFailed, e.what());
  } catch (const mckean::NumericalError& e) {
    return complain(world, kFailed, e.what());
  } catch (const std::bad_alloc&) {
    return complain(world, kFailed, "not enough memory; lower --particles, --law-particles or --level");
  } catch (const std::exception& e) {
    return complain(world, kFailed, fmt::format("internal error: {}; please report it", e.what()));
  }
}
}  // namespace

int main(int argc, char** argv) {
  try {
    mckean::World world;
    return run_command(world, argc, argv);
  } catch (const mckean::RunError& e) {
    fmt::print(stderr, "mckean: {}\n", e.what());
    return kFailed;
  }
}
