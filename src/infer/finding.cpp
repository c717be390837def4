#include "mckean/finding.hpp"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>

namespace mckean {
namespace {

using Code = Finding::Code;

struct Wording {
  Code code;
  const char *name, *text;  // {…}: data of that name
};

constexpr Wording kWordings[] = {
    {Code::stopped, "stopped", "stopped before the search had come to rest"},
    {Code::out_of_time, "out_of_time", "the time granted was used up before the end"},
    {Code::search_out_of_time, "search_out_of_time", "the time granted was used up before the search had come to rest"},
    {Code::not_converged, "not_converged", "not converged"},
    {Code::not_at_rest, "not_at_rest", "not converged: the search had not come to rest"},
    {Code::not_at_maximum, "not_at_maximum", "not converged: the search had not come to rest at a maximum"},
    {Code::no_maximum, "no_maximum",
     "not converged: near the best point the likelihood has no maximum that stands out from its noise"},
    {Code::higher_at_end, "higher_at_end",
     "not converged: the likelihood is higher at the end of an interval than at the maximum that was found"},
    {Code::ascent_not_at_rest, "ascent_not_at_rest", "not converged: the search for the maximum had not come to rest"},
    {Code::profile_not_at_rest, "profile_not_at_rest", "not converged: the ascent to the maximum had not come to rest"},
    {Code::maximum_problem, "maximum_problem", "{problem}"},
    {Code::maximum_problem_at, "maximum_problem_at", "at {place}: {problem}"},
    {Code::others_not_at_maximum, "others_not_at_maximum",
     "the other parameters had not come to their conditional maxima everywhere"},
    {Code::steps_matter, "steps_matter",
     "the steps still matter: the next finer ones move '{parameter}' by {shift:.2f} ± {error:.2f} standard "
     "errors"},
    {Code::steps_moved, "steps_moved",
     "the steps still matter: the last finer ones moved '{parameter}' by {shift:.2f} ± {error:.2f} standard "
     "errors, the next may by about {left:.2f}"},
    {Code::law_matters, "law_matters",
     "particles of the law still matter: twice as many move '{parameter}' by {shift:.2f} ± {error:.2f} "
     "standard errors"},
    {Code::law_moved, "law_moved",
     "particles of the law still matter: the last doubling moved '{parameter}' by {shift:.2f} ± {error:.2f} "
     "standard errors, the next may by about {left:.2f}"},
    {Code::refinement_unchecked, "refinement_unchecked",
     "{what} could not be checked: with the next finer ones the likelihood is a different one"},
    {Code::steps_explode, "steps_explode",
     "with the steps of level {level} particles explode near the maximum, and finer ones are not allowed"},
    {Code::level_matters, "level_matters",
     "Euler's steps still matter: level {level} moves the maximum by {shift:.2f} standard errors"},
    {Code::level_without_maximum, "level_without_maximum", "level {level} has no maximum that could be found"},
    {Code::not_extrapolated, "not_extrapolated",
     "the answer is that of level {level}: levels could not be extrapolated to continuous time"},
    {Code::extrapolations_differ, "extrapolations_differ",
     "continuous time is not known well: extrapolations from levels {lower} and {upper} differ by {shift:.2f} standard "
     "errors"},
    {Code::discretisation_bias, "discretisation_bias",
     "discretisation bias is not negligible: it moves '{parameter}' by about {shift:.2f} ± {error:.2f} standard "
     "errors"},
    {Code::law_bias, "law_bias",
     "the bias of a law of finitely many particles is not negligible: it moves '{parameter}' by about {shift:.2f} ± "
     "{error:.2f} standard errors"},
    {Code::too_few_particles, "too_few_particles",
     "filters of {particles} particles are too few: their log-likelihood has a standard deviation of {sd:.2g}, which "
     "moves its maximum"},
    {Code::tolerance_not_met, "tolerance_not_met",
     "the tolerance was not met: the standard error is {error:.2g}, and what finer steps or a larger law change is not "
     "known well enough, or is more"},
    {Code::smoothing_tolerance_not_met, "smoothing_tolerance_not_met",
     "the tolerance was not met: the smoothed means have a Monte Carlo error of {error:.2g} standard deviations, or "
     "finer "
     "steps still move them"},
    {Code::simulation_tolerance_not_met, "simulation_tolerance_not_met",
     "the tolerance was not met: finer steps or more particles would move the law by more, or it is not known "
     "by how much"},
    {Code::score_tolerance_not_met, "score_tolerance_not_met",
     "the tolerance was not met: the score has a Monte Carlo error of {error:.2g} square roots of the information, or "
     "finer steps still move it"},
    {Code::score_of_level, "score_of_level",
     "the score is that of Euler's steps of level {level}, whose error is not known: a component without noise depends "
     "on parameters"},
    {Code::monte_carlo_error, "monte_carlo_error",
     "the Monte Carlo error is {share:.2f} standard errors, not {wanted}: the filters' log-likelihood has a standard "
     "deviation of {sd:.2g} with {particles} particles"},
    {Code::monte_carlo_error_exceeds, "monte_carlo_error_exceeds",
     "the Monte Carlo error of '{parameter}' exceeds its standard error, and its interval does not contain it; take "
     "more replicates"},
    {Code::heavy_tails, "heavy_tails",
     "heavy tails: one of {count} replicates of cell (level {level}, p {p}) makes up more than half of the variance of "
     "'{parameter}'; its Monte Carlo error is uncertain"},
    {Code::smoother_stuck, "smoother_stuck",
     "the smoother hardly moves: with {particles} particles some part of a path is renewed in {percent:.2g} % of the "
     "iterations; error bars may be too small"},
    {Code::one_particle, "one_particle", "{observation}; one particle carries all the weight"},
    {Code::law_splits, "law_splits",
     "the law does not settle: from t = {t:.6g} on laws of independent particles differ by chance, however many "
     "there are ('{component}' by {apart:.2g} standard deviations of a particle in the end); the law of infinitely "
     "many "
     "is unstable, and no real population follows it"},
    {Code::law_drifts, "law_drifts",
     "the law does not settle: populations of {particles} wander, ever further apart (the mean of '{component}' by "
     "{apart:.2g} standard deviations of a particle at t = {t:.6g}), where the law of infinitely many does not"},
    {Code::heights_differ, "heights_differ",
     "the search saw a log-likelihood of {search:.6g} at the estimate, independent filters see {filters:.6g}: the law "
     "does not settle, or the filters need more particles"},
    {Code::no_loglik, "no_loglik", "no log-likelihood at the estimate: {problem}"},
    {Code::phases_disagree, "phases_disagree",
     "pilot and main phase disagree on '{parameter}' by {shift:.2g} standard errors: the likelihood may be far from "
     "quadratic, or the chains have not converged"},
    {Code::reprojections, "reprojections", "{count} times a chain went too far and was returned to the start"},
    {Code::few_data, "few_data",
     "few data: {values} observed value{s} for {parameters} parameter{ss}; standard errors and intervals assume "
     "many"},
    {Code::at_bound, "at_bound", "{parameter}: at its bound {bound:.6g}"},
    {Code::bound_active, "bound_active",
     "bound active: '{parameter}' ran into its bound, where it was held; it has no standard error, and those of the "
     "other parameters are conditional on its value"},
    {Code::outside_bounds, "outside_bounds",
     "the estimate of '{parameter}' lies outside its bounds; take more replicates"},
    {Code::not_determined, "not_determined",
     "not determined {side}: the profile likelihood of '{parameter}' falls by less than 1.92 there, as far as it "
     "could be followed; it has no standard error"},
    {Code::flat_direction, "flat_direction",
     "not determined: the likelihood does not change along {direction}, which has no standard error"},
    {Code::not_identified, "not_identified",
     "not identified: the data do not determine the combination {direction}; the parameters in it keep about the "
     "values from which they started and have no standard errors"},
    {Code::nearly_singular, "nearly_singular",
     "the information at the start is nearly singular: some combination of the parameters is not determined"},
    {Code::not_positive_definite, "not_positive_definite",
     "the observed information is not positive definite at the estimate: the estimate is not at a maximum, or some "
     "combination of the parameters is not determined; no standard errors"},
    {Code::no_information, "no_information",
     "no standard errors: the information at the estimate has no value; {problem}"},
    {Code::standard_errors_uncertain, "standard_errors_uncertain",
     "the standard errors are known to {percent:.0f} % only"},
    {Code::no_interval, "no_interval", "the interval of '{parameter}' could not be found"},
    {Code::end_not_found, "end_not_found",
     "the {side} end of the interval of '{parameter}' was not found: it is so far that it takes too much work, or "
     "finer steps of time "
     "than are affordable; it has no standard error"},
    {Code::several_maxima, "several_maxima",
     "{count} maxima of comparable likelihood: another is at {place}, log-likelihood {loglik:.6g}"},
    {Code::another_maximum, "another_maximum",
     "another maximum of comparable likelihood is at {place}, log-likelihood {loglik:.6g}"},
    {Code::another_end, "another_end",
     "another maximum, or no convergence: a start ended at {place}, log-likelihood {loglik:.6g} (at the one reported "
     "{best:.6g})"},
    {Code::higher_elsewhere, "higher_elsewhere",
     "the likelihood is higher at {parameter} = {value:.6g} than at the estimate, by {relative:.3g}: there is another "
     "maximum"},
    {Code::start_failed, "start_failed", "start {start} failed: {problem}"},
    {Code::unexplained, "unexplained",
     "the fitted model does not explain {where}: {column} = {value:.6g} at t = {t:.6g} is {sd:.1f} standard deviations "
     "from its prediction"},
    {Code::many_unexplained, "many_unexplained",
     "{count} observations in all are more than {sd} standard deviations from their predictions"},
    {Code::one_sided_predictions, "one_sided_predictions",
     "one-step predictions of the fitted model err on one side: on average by {mean:.2f} standard deviations"},
    {Code::spread_of_predictions, "spread_of_predictions",
     "the fitted model does not explain the spread of the data: errors of one-step predictions have {ratio:.2g} times "
     "the predicted variance"},
    {Code::correlated_predictions, "correlated_predictions",
     "the fitted model does not explain how the data follow each other: successive errors of one-step predictions have "
     "correlation {correlation:.2f}"},
    {Code::predictions_unchecked, "predictions_unchecked", "predictions could not be checked: {problem}"},
};

// Of every code there is one: a test goes through them.
const Wording& wording(Code code) { return *std::ranges::find(kWordings, code, &Wording::code); }

std::string filled(const char* text, const std::vector<Finding::Item>& data) {
  fmt::dynamic_format_arg_store<fmt::format_context> values;
  for (const Finding::Item& item : data)
    std::visit([&](const auto& value) { values.push_back(fmt::arg(item.name.c_str(), value)); }, item.value);
  return fmt::vformat(text, values);
}

std::string plural(const Finding::Item& count) { return count.value == Finding::Item("", 1).value ? "" : "s"; }
}  // namespace

bool Finding::has(std::string_view name) const {
  return std::ranges::any_of(data, [&](const Item& item) { return item.name == name; });
}

std::string_view code_name(Code code) { return wording(code).name; }

std::string to_text(const Finding& f) {
  std::vector<Finding::Item> data = f.data;
  if (f.code == Code::few_data) data.emplace_back("s", plural(data[0])), data.emplace_back("ss", plural(data[1]));
  std::string out = filled(wording(f.code).text, data);
  if (f.has("end")) out += filled(", {side} {end:.4g} with 95 % confidence", data);
  return out;
}
}  // namespace mckean
