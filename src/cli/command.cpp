#include "cli/command.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "model/number.hpp"

namespace mckean::cli {

void CommonOptions::add_to(CLI::App& app) {
  app.add_option("--seed", seed, "seed of all random numbers")->capture_default_str();
  app.add_option("--set", set, "name=value: instead of a start value or constant of the model; may be repeated")
      ->type_name("NAME=VALUE");
  app.add_flag("--json", json, "one JSON object on stdout, messages on stderr");
}

Overrides CommonOptions::overrides() const {
  Overrides out;
  for (const std::string& text : set) {
    const std::size_t equals = text.find('=');
    const Number number = parse_number(equals == std::string::npos ? "" : std::string_view(text).substr(equals + 1));
    if (equals == 0 || equals == std::string::npos || !number.problem.empty())
      throw InputError(fmt::format("--set {}: name=value is expected, with a finite number", text));
    out.emplace_back(text.substr(0, equals), number.value);
  }
  return out;
}

void print_json(const nlohmann::ordered_json& object) { std::puts(object.dump().c_str()); }

void write_file(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  // Beside its final place, then renamed: a file with this name is always whole.
  const std::string beside = path + ".part";
  const auto refuse = [&](int error) {
    std::remove(beside.c_str());
    throw InputError(fmt::format("{}: cannot be written ({}); choose another place with --out", path,
                                 std::generic_category().message(error)));
  };
  std::FILE* file = std::fopen(beside.c_str(), "wb");
  if (!file) refuse(errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  if (std::fclose(file) != 0 || !written) refuse(written ? errno : error);
  if (std::rename(beside.c_str(), path.c_str()) != 0) refuse(errno);
}
}  // namespace mckean::cli
