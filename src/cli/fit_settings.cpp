#include "cli/fit_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/chain_options.hpp"
#include "model/number.hpp"

namespace mckean::cli {
namespace {

constexpr std::pair<Reader::Bits, const char*> kReaders[] = {{Reader::search, "search"},
                                                             {Reader::quadrature, "quadrature"},
                                                             {Reader::stratified, "stratified"},
                                                             {Reader::paper, "paper"},
                                                             {Reader::single, "single"}};

std::vector<std::string> reader_names(unsigned readers) {
  std::vector<std::string> out;
  for (const auto& [reader, name] : kReaders)
    if (readers & reader) out.emplace_back(name);
  return out;
}

bool is_rule(const std::string& text) { return !text.empty() && !parse_number(text).problem.empty(); }

// Something that chains read and a search does not.
bool wants_chains(const Arguments& a) {
  return is_rule(a.particles) || is_rule(a.law_particles) || std::ranges::any_of(options(), [&](const Option& o) {
           const bool of_chains = (o.details.readers & Reader::stratified) && !(o.details.readers & Reader::search);
           return of_chains && (o.commands & Command::fit) && a.given.contains(o.flag);
         });
}
}  // namespace

Arguments understood(const Arguments& given) {
  Arguments a = given;
  const bool named = !a.estimator.empty();
  if (a.estimator == "quadrature") a.engine = "quadrature", a.estimator = "search";
  if (!named) a.estimator = wants_chains(a) ? "stratified" : "search";
  const bool particles_only = a.estimator != "search" || !a.particles.empty() || !a.law_particles.empty();
  if (particles_only && a.engine != "auto" && a.engine != "particles")
    throw InputError(fmt::format("--engine {} has no particles: leave out {}", a.engine,
                                 a.estimator != "search"
                                     ? (named ? "--estimator " + a.estimator : "what only --estimator stratified reads")
                                     : "--particles and --law-particles"));
  if (particles_only) a.engine = "particles";
  a.first_tolerance = a.tolerance;
  return a;
}

std::vector<std::string> without_use(const Arguments& settings, const std::set<std::string>& given) {
  const bool exact = settings.engine == "kalman" || settings.engine == "quadrature";
  const std::string mine = exact ? "quadrature" : settings.estimator;
  std::vector<std::string> out;
  for (const Option& o : options()) {
    if (!o.details.key || !(o.commands & Command::fit) || !given.contains(o.flag)) continue;
    const auto readers = reader_names(o.details.readers);
    if (std::ranges::find(readers, mine) == readers.end())
      out.push_back(fmt::format("{} has no meaning for {}, only for {}", o.flag,
                                mine == "search" ? "a search"
                                : exact          ? "--engine " + settings.engine
                                                 : "--estimator " + mine,
                                fmt::join(readers, ", ")));
  }
  return out;
}

namespace {

constexpr int kHighestP = 30;

// Nothing for "inf".
std::optional<int> parse_most_p(const std::string& text) {
  if (text == "inf") return std::nullopt;
  const Number n = parse_number(text);
  if (!n.problem.empty() || !(n.value >= 0 && n.value <= kHighestP) || n.value != std::floor(n.value))
    throw InputError(fmt::format("--p-max {}: a whole number from 0 to {} is expected, or inf", text, kHighestP));
  return static_cast<int>(n.value);
}

Estimator parse_estimator(const std::string& text) {
  return text == "stratified" ? Estimator::stratified
         : text == "paper"    ? Estimator::paper
         : text == "single"   ? Estimator::single
                              : Estimator::search;
}
}  // namespace

FitOptions fit_options(const Arguments& a) {
  FitOptions o;
  o.engine = a.engine;
  o.estimator = parse_estimator(a.estimator);
  if (!a.levels.empty()) o.levels = parse_levels(a.levels);
  if (!a.scheme.empty()) o.scheme = a.scheme == "euler" ? Scheme::euler : Scheme::splitting;
  o.particles = a.particles, o.law_particles = a.law_particles;
  o.smoother = chosen_smoother(a);
  o.finite_difference = finite_difference(a);
  if (o.estimator == Estimator::stratified && !a.step.empty() && std::ranges::count(a.step, ',') < 2)
    throw InputError(fmt::format("--step {}: for the stratified estimator give all of G,N0,RHO or none", a.step));
  if (!a.step.empty()) o.step = parse_step(a.step);
  if (a.iterations > 0) o.iterations = a.iterations;
  if (!a.most_p.empty()) o.most_p = parse_most_p(a.most_p);
  o.unbounded_p = !a.most_p.empty() && !o.most_p;
  o.level_weight = a.level_weight, o.length_weight = a.length_weight, o.chain_length = a.chain_length;
  if (a.starts > 0) o.starts = a.starts;
  if (a.replicates > 0) o.replicates = a.replicates;
  if (a.tolerance > 0) o.tolerance = a.tolerance;
  o.first_tolerance = a.first_tolerance;
  o.limited_time = !a.budget.empty();
  o.seed = a.seed;
  o.full_precision = a.full_normals;
  return o;
}

// The engine follows from an estimator along chains.
std::string fit_command(const Arguments& a, const std::string& model_file, const std::string& data_file) {
  Arguments usual = understood(defaults(Command::fit));
  if (a.estimator != "search") usual.engine = a.engine;
  return command_line(a, usual, model_file, data_file);
}

double parse_duration(const std::string& text) {
  const std::string units = "smh";
  const double factors[] = {1, 60, 3600};
  const std::size_t unit = text.empty() ? std::string::npos : units.find(text.back());
  const Number n = parse_number(std::string_view(text).substr(0, text.size() - (unit == std::string::npos ? 0 : 1)));
  if (!n.problem.empty() || !(n.value > 0))
    throw InputError(fmt::format("--budget {}: a time such as 90s, 10m or 2h is expected", text));
  return n.value * (unit == std::string::npos ? 1 : factors[unit]);
}
}  // namespace mckean::cli
