#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "cli/chain_options.hpp"
#include "cli/command.hpp"
#include "cli/run_fit.hpp"
#include "cli/running.hpp"
#include "run/run_input.hpp"

namespace mckean::cli {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Throws InputError where a fit would refuse them.
void check_settings(const Arguments& s, const Model& model, const Data& data) {
  require_parameters(s, model);
  if (!s.budget.empty()) parse_duration(s.budget);
  check_fit({model, data, s.unit}, fit_options(s));
}
}  // namespace

Run begin_fit(const Arguments& given, World& world) {
  const Arguments o = understood(given);
  const std::string name = world.from_first([&] {  // errors before anything is created
    const Model model = read_model(o.model, o.overrides());
    check_settings(o, model, read_data(o.data, model.columns()));
    return model.name();
  });
  for (const auto& note : without_use(o, o.given))
    if (world.first()) fmt::print(stderr, "mckean: warning: {}; it is ignored\n", note);
  const RunInput input{text_of(settings_json(o)), file_text(o.model), file_text(o.data)};
  if (o.no_run) return Run::without_store(world, input, run_options(o));
  const std::string folder = o.run.empty() ? world.from_first([&] { return fresh_folder(name).string(); }) : o.run;
  return Run::create(world, folder, input, run_options(o));
}
}  // namespace mckean::cli
