#include "cli/options.hpp"

#include <fmt/format.h>

#include <type_traits>

namespace mckean::cli {
namespace {

using Json = nlohmann::ordered_json;

void assign(std::string& to, const std::string& text) { to = text; }
void assign(std::uint64_t& to, const std::string& text) { to = std::stoull(text); }
void assign(double& to, const std::string& text) { to = std::stod(text); }
void assign(std::optional<int>& to, const std::string& text) { to = std::stoi(text); }
void assign(auto&, const std::string&) {}  // flags and lists begin empty

CLI::Option* add_value(CLI::App& command, const Option& o, bool& value) {
  return command.add_flag(o.flag, value, o.help);
}
CLI::Option* add_value(CLI::App& command, const Option& o, std::vector<std::string>& value) {
  CLI::Option* out = command.add_option(o.flag, value, o.help);
  return o.flag.starts_with("--") ? out->type_name("NAME=VALUE")->allow_extra_args(false) : out;
}
CLI::Option* add_value(CLI::App& command, const Option& o, auto& value) {
  return command.add_option(o.flag, value, o.help);
}

// For a shell: as it is where that is safe, else in single quotes.
std::string shell_word(const std::string& text) {
  const std::string safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/";
  if (!text.empty() && text.find_first_not_of(safe) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string flag_text(const std::string& flag, const Json& value) {
  if (value.is_boolean()) return " " + flag;
  if (!value.is_array())
    return fmt::format(" {} {}", flag, shell_word(value.is_string() ? value.get<std::string>() : value.dump()));
  std::string out;
  for (const Json& item : value) out += fmt::format(" {} {}", flag, shell_word(item.get<std::string>()));
  return out;
}
}  // namespace

Arguments defaults(Command::Bits command) {
  Arguments out;
  for (const Option& o : options())
    if ((o.commands & command) && !o.details.fallback.empty())
      std::visit([&](auto member) { assign(out.*member, o.details.fallback); }, o.member);
  return out;
}

void add_options(CLI::App& command, Command::Bits which, Arguments& arguments) {
  arguments = defaults(which);
  for (const Option& o : options()) {
    if (!(o.commands & which) || o.flag.empty()) continue;
    CLI::Option* const added =
        std::visit([&](auto member) { return add_value(command, o, arguments.*member); }, o.member);
    if (!o.details.fallback.empty()) added->default_str(o.details.fallback);
    if (o.details.check) added->check(*o.details.check);
    added->required(o.details.required);
    if (o.details.excludes) added->excludes(command.get_option(o.details.excludes));
  }
}

Json value_json(const Option& o, const Arguments& a) {
  return std::visit(
      [&](auto member) -> Json {
        if constexpr (std::is_same_v<decltype(member), std::optional<int> Arguments::*>)
          return a.*member ? Json(*(a.*member)) : Json(nullptr);
        else
          return a.*member;
      },
      o.member);
}

Json settings_json(const Arguments& a) {
  Json out = Json::object();
  for (const Option& o : options())
    if (o.details.key && (o.commands & Command::fit)) out[o.details.key] = value_json(o, a);
  return out;
}

Arguments read_settings(const Json& settings) {
  if (!settings.contains("model"))
    throw InputError("the run was not begun by 'mckean fit'; the program that began it continues it");
  Arguments out;
  for (const Option& o : options())
    if (o.details.key && (o.commands & Command::fit))
      std::visit(
          [&](auto member) {
            if constexpr (!std::is_same_v<decltype(member), std::optional<int> Arguments::*>)
              settings.at(o.details.key).get_to(out.*member);
          },
          o.member);
  return out;
}

std::string command_line(const Arguments& a, const Arguments& usual, const std::string& model,
                         const std::string& data) {
  std::string out = fmt::format("mckean fit {} {} --seed {}", shell_word(model), shell_word(data), a.seed);
  for (const Option& o : options()) {
    if (!o.details.key || !(o.commands & Command::fit) || !o.flag.starts_with("--") || o.flag == "--seed") continue;
    const Json value = value_json(o, a);
    if (value != value_json(o, usual)) out += flag_text(o.flag, value);
  }
  return out;
}
}  // namespace mckean::cli
