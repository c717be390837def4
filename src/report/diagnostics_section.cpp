// Warnings in plain words, and what to do about them.
#include <fmt/format.h>

#include "report/html.hpp"
#include "report/sections.hpp"

namespace mckean::report {
namespace {

struct Advice {
  std::string_view about, text;  // a part of the warning; what to do
};

constexpr Advice kAdvice[] = {
    {"not converged", "The search had not come to rest. Try other starts: --set, --starts."},
    {"not identified",
     "Along this combination the likelihood is flat. Fix one of its parameters as a constant, or observe "
     "more."},
    {"bound active", "The likelihood grows up to the bound. Widen it if it is not a fact about the system."},
    {"pilot and main phase disagree",
     "The likelihood is far from quadratic, or chains mix badly. Compare with another --seed, and look at the "
     "log-likelihood around the estimate."},
    {"another maximum", "There may be several maxima; the highest one found is reported."},
    {"bias", "Refine the computation: --levels, --law-particles."},
    {"the standard errors are known", "Give the pilot more particles, or use the profile for intervals."},
    {"hardly moves", "Raise --particles; error bars may be too small."},
    {"heavy tails", "Take more --replicates, and doubt the Monte Carlo error until then."},
    {"does not explain", "Look at this observation: an error in the data, or a model that cannot produce it."},
    {"one-step predictions", "The model misses a feature of the data; standard errors mean little until it has it."},
    {"time granted", "Go on with mckean resume and a larger --budget."},
};

std::string advice_for(const std::string& warning) {
  for (const Advice& a : kAdvice)
    if (warning.find(a.about) != std::string::npos) return fmt::format("<br>{}", escaped(a.text));
  return "";
}
}  // namespace

std::string diagnostics_section(const Context& c) {
  const auto& warnings = c.facts.warnings;
  std::string out;
  if (!c.facts.finished) {
    out += paragraph("The run is not finished, so its checks have not been made.");
    const std::string comment = c.input.run["comment"].get<std::string>();
    if (!comment.empty())
      out += paragraph(fmt::format("State: {}; {}.", c.input.run["state"].get<std::string>(), comment));
  } else if (warnings.empty()) {
    out += paragraph("No warnings.");
  } else {
    out += "<ul class=\"warnings\">\n";
    for (const auto& w : warnings) out += fmt::format("<li><strong>{}</strong>{}</li>\n", escaped(w), advice_for(w));
    out += "</ul>\n";
  }
  if (c.facts.finished && c.input.plan.estimator != Estimator::quadrature) {
    const auto times = c.input.run["result"].value("reprojections", std::size_t{0});
    out +=
        paragraph(times == 0 ? std::string("No chain had to be returned to its start.")
                             : fmt::format("Chains left the region in which they may move, and were returned to their "
                                           "start, {} times.",
                                           times));
  }
  return out;
}
}  // namespace mckean::report
