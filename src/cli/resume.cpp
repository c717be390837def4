#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/run_fit.hpp"
#include "cli/running.hpp"
#include "run/run_input.hpp"

namespace mckean::cli {
namespace {

// A run of `mckean reproduce` goes on by that command.
void require_fit(const Arguments& o, World& world) {
  world.on_first([&] {
    if (!std::filesystem::exists(Store::file_in(o.folder))) return;
    const auto settings = object_of(read_input(Store(o.folder, Store::Mode::read)).settings);
    if (settings.contains("reproduce"))
      throw InputError(
          fmt::format("{}: a run of 'mckean reproduce'; give that command again, and it goes on", o.folder));
  });
}

}  // namespace

Run reopen_fit(const Arguments& o, World& world) {
  require_fit(o, world);
  Run run = Run::open(world, o.folder, run_options(o));
  for (const auto& problem : without_use(read_settings(object_of(run.input().settings)), o.given))
    throw InputError(problem);
  for (const Option& option : options())
    if (option.details.key && (option.commands & Command::resume) && o.given.contains(option.flag))
      run.change_setting(option.details.key, text_of(value_json(option, o)));
  return run;
}
}  // namespace mckean::cli
