// Warnings in plain words, and what to do about them.
#include <fmt/format.h>

#include "report/html.hpp"
#include "report/sections.hpp"

namespace mckean::report {
namespace {

struct Advice {
  std::string_view about, text;  // a part of the warning; what to do
};

constexpr std::string_view kFlat =
    "Along this combination the likelihood is flat. Fix one of its parameters as a constant, or observe more.";
constexpr std::string_view kBound =
    "The likelihood grows up to the bound. Widen it if it is not a fact about the system.";

constexpr Advice kAdvice[] = {
    {"stands out from its noise", "Raise --particles; or the data hardly determine the parameters."},
    {"not converged", "The search had not come to rest. Try other starts: --set, --starts."},
    {"not identified", kFlat},
    {"likelihood does not change along", kFlat},
    {"falls by less than 1.92",
     "Fix the parameter as a constant, observe more, or give it a bound that is a fact about the system."},
    {"bound active", kBound},
    {"at its bound", kBound},
    {"the search saw a log-likelihood", "Raise --particles and --law-particles, and compare with another --seed."},
    {"no log-likelihood at the estimate", "Raise --particles, or look at the observation that it names."},
    {"maxima of comparable likelihood", "The highest one is reported. The others are in run.json: maxima."},
    {"still matter",
     "Refine further (--levels, --law-particles, --budget), or take the shift as an error of the estimate."},
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
  if (c.facts.finished && c.facts.chains) {
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
