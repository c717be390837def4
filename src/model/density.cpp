#include "model/density.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "expr/functions.hpp"

namespace mckean {

const std::vector<DistributionInfo>& distributions() {
  using enum DistributionInfo::Support;
  static const std::vector<DistributionInfo> all{
      {"normal", Distribution::normal, {"mean", "sd"}, real},
      {"student_t", Distribution::student_t, {"df", "location", "scale"}, real},
      {"lognormal", Distribution::lognormal, {"mean of log", "sd of log"}, positive},
      {"poisson", Distribution::poisson, {"rate"}, count},
      {"negative_binomial", Distribution::negative_binomial, {"mean", "size"}, count},
      {"binomial", Distribution::binomial, {"trials", "probability"}, count},
  };
  return all;
}

const DistributionInfo& info(Distribution d) {
  return *std::ranges::find(distributions(), d, &DistributionInfo::distribution);
}

bool is_distribution(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  const std::size_t open = std::min(text.find('(', begin), text.size());
  const std::string_view name = text.substr(begin, text.find_last_not_of(blanks, open - 1) + 1 - begin);
  return open < text.size() && is_name(name) && !find_function(name);
}

Density parse_density(std::string_view text, Graph& graph, const Scope& scope) {
  const Call call = parse_call(text, graph, scope);
  const auto at = std::ranges::find(distributions(), call.name, &DistributionInfo::name);
  if (at == distributions().end()) {
    std::vector<std::string> known;
    for (const auto& d : distributions()) known.emplace_back(d.name);
    throw ParseError(call.position,
                     fmt::format("there is no distribution '{}'; {}", call.name, suggestion(call.name, known)));
  }
  const std::size_t wanted = at->arguments.size();
  if (call.arguments.size() != wanted)
    throw ParseError(call.position,
                     fmt::format("{} takes {} argument{} ({}), not {}", call.name, wanted, wanted == 1 ? "" : "s",
                                 fmt::join(at->arguments, ", "), call.arguments.size()));
  return {at->distribution, call.arguments, {}};
}

namespace {

const double kLogSqrtTwoPi = 0.5 * std::log(2 * std::numbers::pi);

Expr normal(Expr y, Expr mean, Expr sd) { return -0.5 * pow((y - mean) / sd, 2) - log(sd) - kLogSqrtTwoPi; }

// count · e, which is 0 where the count is 0 whatever e is: 0 log 0 = 0.
Expr times(Expr count, Expr e) {
  const Expr zero = count.graph().number(0);
  return select(count.graph().make(Op::equal, count, zero), zero, count * e);
}
}  // namespace

Expr log_density(Distribution d, Expr y, const std::vector<Expr>& a) {
  switch (d) {
    case Distribution::normal:
      return normal(y, a[0], a[1]);
    case Distribution::lognormal:
      return normal(log(y), a[0], a[1]) - log(y);
    case Distribution::student_t: {
      const Expr z = (y - a[1]) / a[2], half = 0.5 * (a[0] + 1.0);
      return lgamma(half) - lgamma(0.5 * a[0]) - 0.5 * log(std::numbers::pi * a[0]) - log(a[2]) -
             half * log1p(pow(z, 2) / a[0]);
    }
    case Distribution::poisson:
      return times(y, log(a[0])) - a[0] - lgamma(y + 1.0);
    case Distribution::negative_binomial:
      return lgamma(y + a[1]) - lgamma(a[1]) - lgamma(y + 1.0) + times(y, log(a[0]) - log(a[0] + a[1])) -
             a[1] * log1p(a[0] / a[1]);
    case Distribution::binomial:
      return lgamma(a[0] + 1.0) - lgamma(y + 1.0) - lgamma(a[0] - y + 1.0) + times(y, log(a[1])) +
             times(a[0] - y, log1p(-a[1]));
    case Distribution::custom:
      break;
  }
  throw std::logic_error("a custom density has no formula of its own");
}

Moments moments_of(const ObservedColumn& column) {
  const auto& a = column.arguments;
  switch (column.distribution) {
    case Distribution::normal:
      return {a[0], a[1] * a[1]};
    case Distribution::student_t:
      return {a[1], a[2] * a[2] * a[0] / (a[0] - 2.0)};  // negative or infinite, so no moments, for few degrees
    case Distribution::lognormal:
      return {exp(a[0] + 0.5 * a[1] * a[1]), (exp(a[1] * a[1]) - 1.0) * exp(2.0 * a[0] + a[1] * a[1])};
    case Distribution::poisson:
      return {a[0], a[0]};
    case Distribution::negative_binomial:
      return {a[0], a[0] + a[0] * a[0] / a[1]};
    case Distribution::binomial:
      return {a[0] * a[1], a[0] * a[1] * (1.0 - a[1])};
    case Distribution::custom:
      break;
  }
  return {};
}
}  // namespace mckean
