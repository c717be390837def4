#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/command.hpp"
#include "expr/utf8.hpp"

namespace mckean::cli {
namespace {

constexpr std::string_view kStarter =
    R"toml(# A model of many interacting particles, of which one is observed with noise:
#   dX = [kappa*(mu - X) + pull] dt + s dW,   pull = average of beta*(x' - X) over the law of X,
#   y  = X + observation noise.
name = "{}"

[state]
x = 0.0                              # where it starts: a number, or "normal(0, 1)"

[parameters]                         # estimated, from these starting values
kappa = {{ start = 1.0, lower = 0 }}   # a bound keeps it positive
mu = 5.0
beta = 0.5

[constants]
s = 1.0
tau = 1.0

[interaction]                        # averaged over the law; x' is the other particle
pull = "beta*(x' - x)"

[drift]
x = "kappa*(mu - x) + pull"

[diffusion]
x = "s"                              # 0 for a component without noise; a list gives a row of a matrix

[observation]                        # also student_t, lognormal, poisson, negative_binomial, binomial,
y = "normal(x, tau)"                 # or {{ log_density = "-0.5*((y - x)/tau)^2" }}
)toml";

bool is_model_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

void create_model(const Arguments& o) {
  const std::string stem = o.name.ends_with(".toml") ? o.name.substr(0, o.name.size() - 5) : o.name;
  const std::string model = std::filesystem::path(stem).filename().string(), file = stem + ".toml";
  if (!is_model_name(model))
    throw InputError(fmt::format("{} cannot be the name of a model; use letters, digits, - and _", shown(o.name)));
  if (std::filesystem::exists(file)) throw InputError(fmt::format("{}: exists already; choose another name", file));
  const std::string text = fmt::format(kStarter, model);
  parse_model(text, file, o.overrides());  // what is written works
  write_file(file, text);
  if (o.json) return print_json({{"out", file}});
  fmt::print("wrote {0}\nnext: mckean check {0}\n", file);
}
}  // namespace

void run_new(const Arguments& o, World& world) {
  world.on_first([&] { create_model(o); });
}
}  // namespace mckean::cli
