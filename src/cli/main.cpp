// The command `mckean`: parses the command line, runs one subcommand, turns exceptions into exit status.
#include <fmt/format.h>

#include <new>

#include "cli/command.hpp"
#include "program/kernels.hpp"

namespace {

constexpr int kFailed = 1, kBadInput = 2;

int complain(int status, const std::string& message) {
  fmt::print(stderr, "mckean: {}\n", message);
  return status;
}
}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Maximum-likelihood estimation for partially observed McKean-Vlasov diffusions.", "mckean");
  app.set_version_flag("--version",
                       fmt::format("mckean {} ({} vector instructions)", MCKEAN_VERSION, mckean::kernels().name));
  app.require_subcommand(1);
  mckean::cli::add_new(app);
  mckean::cli::add_check(app);
  mckean::cli::add_simulate(app);
  mckean::cli::add_loglik(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return complain(kBadInput, fmt::format("{}; see 'mckean --help'", e.what()));
  } catch (const mckean::InputError& e) {
    return complain(kBadInput, e.what());
  } catch (const mckean::NumericalError& e) {
    return complain(kFailed, e.what());
  } catch (const std::bad_alloc&) {
    return complain(kFailed, "not enough memory; lower --particles, --law-particles or --level");
  } catch (const std::exception& e) {
    return complain(kFailed, fmt::format("internal error: {}; please report it", e.what()));
  }
}
