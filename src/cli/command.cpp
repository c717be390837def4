#include "cli/command.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "expr/utf8.hpp"
#include "model/number.hpp"

namespace mckean::cli {

nlohmann::ordered_json parameters_json(const Model& model, const std::vector<double>& theta) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (std::size_t p = 0; p < theta.size(); ++p) out[model.parameters()[p].name] = theta[p];
  return out;
}

void print_json(const nlohmann::ordered_json& object) { std::puts(object.dump().c_str()); }

namespace {

CLI::Validator check_of(std::function<std::string(const std::string&)> problem) {
  return CLI::Validator(std::move(problem), "");
}

std::string part_of(const std::string& path) { return path + ".part"; }

[[noreturn]] void refuse(const std::string& path, int error) {
  std::remove(part_of(path).c_str());
  throw InputError(
      fmt::format("{}: cannot be written ({}); choose another place", path, std::generic_category().message(error)));
}

std::FILE* open_part(const std::string& path) {
  if (std::filesystem::is_directory(path)) refuse(path, EISDIR);
  std::FILE* file = std::fopen(part_of(path).c_str(), "wb");
  if (!file) refuse(path, errno);
  return file;
}
}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return check_of([=](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    if (whole && value >= least && value <= most) return {};
    return fmt::format("{} is no whole number from {} to {} (in digits, not 1e5)", shown(text), least, most);
  });
}

CLI::Validator positive_number() {
  return check_of([](const std::string& text) -> std::string {
    const Number number = parse_number(text);
    if (!number.problem.empty()) return number.problem;
    return number.value > 0 ? "" : fmt::format("{} is not positive", shown(text));
  });
}

void require_writable(const std::string& path) {
  if (path == "-") return;
  std::fclose(open_part(path));
  std::remove(part_of(path).c_str());
}

// Beside its final place, then renamed: a file with this name is always whole.
void write_file(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  std::FILE* file = open_part(path);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  if (std::fclose(file) != 0 || !written) refuse(path, written ? errno : error);
  if (std::rename(part_of(path).c_str(), path.c_str()) != 0) refuse(path, errno);
}
}  // namespace mckean::cli
