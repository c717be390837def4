// The command `mckean`: parses the command line, runs one subcommand, turns exceptions into exit status.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <new>

#include "cli/command.hpp"
#include "expr/parse.hpp"
#include "mckean/error.hpp"
#include "mckean/tasks.hpp"
#include "program/kernels.hpp"

namespace {

using mckean::cli::CommandEntry, mckean::cli::commands;

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

class CommandLine {
 public:
  CommandLine() {
    app_.set_version_flag("--version", fmt::format("mckean {} ({} vector instructions; {})", MCKEAN_VERSION,
                                                   mckean::kernels().name, mckean::mpi_version()));
    app_.require_subcommand(1);
    for (const CommandEntry& c : commands())
      add_options(*app_.add_subcommand(c.name, c.description), c.bit, arguments_[c.name]);
  }

  // Throws CLI::Success where there is nothing to run, and CLI::ParseError.
  void parse(int argc, char** argv) {
    if (argc > 1) first_ = argv[1];
    app_.parse(argc, argv);
    for (const CLI::Option* o : chosen().get_options())
      if (o->count() > 0) arguments_[chosen().get_name()].given.insert(o->get_name());
  }

  const CommandEntry& command() const {
    return *std::ranges::find(commands(), chosen().get_name(), &CommandEntry::name);
  }
  const mckean::cli::Arguments& arguments() const { return arguments_.at(chosen().get_name()); }
  int exit(const CLI::Success& e) const { return app_.exit(e); }

  // What is wrong with it, and where help is.
  std::string problem(const CLI::ParseError& e) const {
    if (!app_.get_subcommands().empty()) {
      const bool extras = e.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
      return fmt::format("{}; see 'mckean {} --help'",
                         extras ? fmt::format("not expected: {}", fmt::join(chosen().remaining(), " ")) : e.what(),
                         chosen().get_name());
    }
    std::vector<std::string> known;
    for (const CommandEntry& c : commands()) known.emplace_back(c.name);
    if (first_.empty()) return fmt::format("a command is required: {}; see 'mckean --help'", fmt::join(known, ", "));
    if (first_.starts_with('-'))
      return fmt::format("'{}' is not understood: a command comes first, one of {}", first_, fmt::join(known, ", "));
    return fmt::format("there is no command '{}'; {}", first_, mckean::suggestion(first_, known));
  }

 private:
  const CLI::App& chosen() const { return *app_.get_subcommands()[0]; }

  CLI::App app_{"Maximum-likelihood estimation for partially observed McKean-Vlasov diffusions.", "mckean"};
  std::map<std::string, mckean::cli::Arguments> arguments_;  // of each command
  std::string first_;                                        // word
};

int flushed(mckean::World& world, int status) {
  if (std::fflush(stdout) == 0) return status;
  return complain(world, kFailed, "the result could not be written to stdout; is it full?");
}

// The exit status that the exception in flight stands for, once it is told.
int failed(mckean::World& world, const CommandLine& line) {
  try {
    throw;
  } catch (const mckean::cli::Unreliable&) {
    return flushed(world, kUnreliable);
  } catch (const CLI::Success& e) {
    return line.exit(e);
  } catch (const CLI::ParseError& e) {
    return complain(world, kBadInput, line.problem(e));
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
    CommandLine line;
    try {
      line.parse(argc, argv);
      line.command().run(line.arguments(), world);
      return flushed(world, 0);
    } catch (...) {
      return failed(world, line);
    }
  } catch (const mckean::RunError& e) {
    fmt::print(stderr, "mckean: {}\n", e.what());
    return kFailed;
  }
}
