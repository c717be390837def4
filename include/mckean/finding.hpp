// What a reader must know of a result: a code with the data that belong to it, worded where it is shown.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace mckean {

struct Finding {
  enum class Code {
    // It ended before the end, or not at a maximum.
    stopped,
    out_of_time,
    search_out_of_time,
    not_converged,
    not_at_rest,
    not_at_maximum,
    no_maximum,
    higher_at_end,
    ascent_not_at_rest,
    profile_not_at_rest,
    maximum_problem,
    maximum_problem_at,
    others_not_at_maximum,
    // How finely and with how many particles it was computed.
    steps_matter,
    steps_moved,
    law_matters,
    law_moved,
    refinement_unchecked,
    steps_explode,
    level_matters,
    level_without_maximum,
    not_extrapolated,
    extrapolations_differ,
    discretisation_bias,
    law_bias,
    too_few_particles,
    tolerance_not_met,
    smoothing_tolerance_not_met,
    simulation_tolerance_not_met,
    score_tolerance_not_met,
    score_of_level,
    monte_carlo_error,
    monte_carlo_error_exceeds,
    heavy_tails,
    smoother_stuck,
    one_particle,
    law_splits,
    law_drifts,
    heights_differ,
    no_loglik,
    phases_disagree,
    reprojections,
    // What the data determine.
    few_data,
    at_bound,
    bound_active,
    outside_bounds,
    not_determined,
    flat_direction,
    not_identified,
    nearly_singular,
    not_positive_definite,
    no_information,
    standard_errors_uncertain,
    no_interval,
    end_not_found,
    several_maxima,
    another_maximum,
    another_end,
    higher_elsewhere,
    start_failed,
    // Whether the fitted model predicts the data.
    unexplained,
    many_unexplained,
    one_sided_predictions,
    spread_of_predictions,
    correlated_predictions,
    predictions_unchecked,
  };
  struct Item {
    std::string name;
    std::variant<double, std::string> value;

    Item(std::string n, double v) : name(std::move(n)), value(v) {}
    Item(std::string n, std::string v) : name(std::move(n)), value(std::move(v)) {}
    template <std::integral Count>
    Item(std::string n, Count v) : name(std::move(n)), value(static_cast<double>(v)) {}
    bool operator==(const Item&) const = default;
  };

  Code code;
  std::vector<Item> data = {};  // by name: "parameter", "shift" and so on

  bool has(std::string_view name) const;
  bool operator==(const Finding&) const = default;
};
using Findings = std::vector<Finding>;

std::string_view code_name(Finding::Code);  // "few_data"
std::string to_text(const Finding&);        // in plain words, without a full stop
}  // namespace mckean
