#include "report/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "infer/search/box.hpp"
#include "model/symmetric.hpp"
#include "model/unconstrained.hpp"
#include "paper/information.hpp"

namespace mckean::report {
namespace {

using Json = nlohmann::ordered_json;
using Eigen::Index, Eigen::MatrixXd;

std::optional<double> maybe(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? std::optional(at->get<double>()) : std::nullopt;
}

// What the pilot or the search decided: the last of its numbers, that of the highest level.
std::optional<double> decided(const Json& run, const char* key) {
  const Json& notes = run["notes"];
  for (const char* who : {"pilot", "search"}) {
    const Json note = notes.value(who, Json::object());
    const auto at = note.find(key);
    if (at != note.end() && at->is_array() && !at->empty() && at->back().is_number()) return at->back().get<double>();
  }
  return {};
}

MatrixXd matrix_of(const Json& rows, Index n) {
  MatrixXd out = MatrixXd::Constant(n, n, std::nan(""));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      if (const Json& v = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]; v.is_number())
        out(i, j) = v.get<double>();
  return out;
}

std::vector<double> numbers(const Json& array) {
  std::vector<double> out;
  for (const Json& v : array) out.push_back(v.is_number() ? v.get<double>() : std::nan(""));
  return out;
}
}  // namespace

Facts::Facts(const Input& input) {
  finished = input.run["result"].is_object();
  read_estimates(input);
  read_evaluations(input);
  read_engine(input);
  // Of a parameter that the data do not determine, or that a bound holds, a search does not know its own error either.
  for (Estimate& e : estimates)
    if (search && !e.std_error) e.mc_se.reset();
  read_place(input);
  read_information(input);
  read_sizes(input);
  read_tasks(input);
  read_cells(input);
  if (!finished) return;
  warnings = input.run["result"].value("warnings", std::vector<std::string>{});
  converged = input.run["result"].value("converged", true);
}

void Facts::read_estimates(const Input& input) {
  const Json& from = finished ? input.run["result"]["estimate"] : input.run["estimate"];
  for (const Parameter& p : input.model.parameters()) {
    const Json e = from.value(p.name, Json::object());
    estimates.push_back(
        {p.name, maybe(e, "value"), maybe(e, "mc_se"), maybe(e, "std_error"), maybe(e, "lower"), maybe(e, "upper")});
    const std::string bound = e.value("at_bound", "");
    estimates.back().at_bound = bound == "lower" ? AtBound::lower : bound == "upper" ? AtBound::upper : AtBound::none;
    // Of an unfinished run, 0 stands for an error that is not known.
    if (!finished && estimates.back().mc_se == 0.0) estimates.back().mc_se.reset();
  }
}

void Facts::read_evaluations(const Input& input) {
  const std::string& prefix = search::kTaskPrefix;
  input.store.for_each_task([&](const Store::Row& row) {
    if (!row.task.group.starts_with(prefix)) return;
    evaluations.push_back({row.task.group.substr(prefix.size()), unpack<search::Record>(row.value, row.task)});
  });
  std::ranges::stable_sort(evaluations, {}, [](const Evaluation& e) { return e.record.serial; });
}

// An unfinished run shows its engine by its tasks: one that tries an exact engine first asks what it would cost.
void Facts::read_engine(const Input& input) {
  chains = input.plan.estimator != Estimator::search;
  if (chains) return;
  if (finished) {
    engine = input.run["result"].value("engine", "particles");
    continuous = input.run["result"].value("continuous", false);
    exact = engine != "particles";
    search = !exact;
    return;
  }
  exact = input.plan.engine != "particles" && input.plan.engine != "auto";
  input.store.for_each_task([&](const Store::Row& row) {
    const std::string& group = row.task.group;
    exact = exact || (group.starts_with("quadrature ") && !group.starts_with("quadrature cost"));
  });
  search = !exact && (input.plan.engine == "particles" || input.model.dimension() > 1 || !evaluations.empty());
}

void Facts::read_place(const Input& input) {
  const Json pilot = input.run["notes"].value("pilot", Json::object());
  if (!estimates.empty() && std::ranges::all_of(estimates, [](const Estimate& e) { return e.value.has_value(); })) {
    for (const Estimate& e : estimates) theta.push_back(*e.value);
    place = finished ? "the estimate" : "the estimate so far";
  } else if (pilot.contains("centre")) {
    theta = numbers(pilot["centre"]);
    place = "the pilot's estimate";
  } else {
    theta = input.model.start_values();
    place = "the start values, since there is no estimate yet";
  }
  const search::Box box(input.model.parameters());
  const std::vector<double> within = box.theta(box.inside(box.from(theta)));
  for (std::size_t p = 0; p < theta.size(); ++p) {
    if (estimates[p].at_bound != AtBound::none) theta[p] = within[p];
    inside = inside && input.model.parameters()[p].contains(theta[p]);
  }
}

// The pilot's; else from the covariance of the result, where that of the parameters with a standard error has an
// inverse.
void Facts::read_information(const Input& input) {
  const Json pilot = input.run["notes"].value("pilot", Json::object());
  const auto n = static_cast<Index>(theta.size());
  if (pilot.contains("unconstrained_information")) {
    const auto flat = numbers(pilot["unconstrained_information"]);
    if (flat.size() == static_cast<std::size_t>(n * n)) information = Eigen::Map<const MatrixXd>(flat.data(), n, n);
    return;
  }
  if (!finished || !inside || !input.run["result"].value("covariance", Json()).is_array()) return;
  std::vector<Index> known;
  for (Index i = 0; i < n; ++i)
    if (estimates[static_cast<std::size_t>(i)].std_error.value_or(0) > 0) known.push_back(i);
  if (known.empty()) return;
  const MatrixXd covariance = matrix_of(input.run["result"]["covariance"], n);
  const auto part = inverse_if_positive(covariance(known, known), 1e-12);
  if (!part) return;
  MatrixXd all = MatrixXd::Zero(n, n);
  all(known, known) = *part;
  information = unconstrained_information(input.model, theta, all);
}

void Facts::read_sizes(const Input& input) {
  constexpr std::size_t kParticles = 100, kLawParticles = 500;
  constexpr int kFine = 5;  // level of what is drawn, where the answer has none
  const Json result = finished ? input.run["result"] : Json::object();
  const bool stratified = input.plan.estimator == Estimator::stratified;
  const std::optional<Effort> last =
      search && !evaluations.empty() ? std::optional(evaluations.back().record.point.effort) : std::nullopt;
  const int asked = last         ? last->level
                    : !chains    ? input.plan.search.levels.first
                    : stratified ? input.plan.pilot.levels.value_or(std::pair(3, 3)).second
                                 : input.plan.replicated.highest;
  steps.level = static_cast<int>(decided(input.run, "levels").value_or(asked));
  if (finished) steps.level = result["levels"].empty() ? kFine : result["levels"].back().get<int>();
  if (search) steps.scheme = last ? last->scheme : input.plan.search.scheme;
  const auto size = [&](const char* key, std::size_t otherwise) {
    const double of_result = maybe(result, key).value_or(0);
    const double n = of_result > 0 ? of_result : decided(input.run, key).value_or(0);
    return n > 0 ? static_cast<std::size_t>(n) : otherwise;
  };
  particles = size("particles", last ? last->particles : kParticles);
  law_particles = size("law_particles", last ? last->law_particles : kLawParticles);
}

void Facts::read_tasks(const Input& input) {
  std::map<std::pair<int, int>, CellDraws> by_cell;
  const auto add = [&](const Task& task, int l, int p, std::vector<double> difference, std::uint64_t cost) {
    if (difference.size() != theta.size())
      refuse_task(task, "replicate", BadRow("it has another number of parameters"));
    CellDraws& cell = by_cell.try_emplace({l, p}, CellDraws{l, p, {}, {}, {}}).first->second;
    cell.index.push_back(task.index);
    cell.difference.push_back(std::move(difference));
    cell.particle_steps.push_back(static_cast<double>(cost));
    ++replicate_count;
  };
  input.store.for_each_task([&](const Store::Row& row) {
    std::istringstream words(row.task.group);
    std::string kind;
    int l = 0, p = 0;
    if (words >> kind >> l >> p && kind == "cell") {
      const auto r = unpack<CellReplicate>(row.value, row.task);
      add(row.task, l, p, {r.difference.begin(), r.difference.end()}, r.particle_steps);
    }
    if (row.task.group == "replicate") {
      const auto r = unpack<Replicate>(row.value, row.task);
      add(row.task, r.level, r.p, r.difference, r.particle_steps);
      replicates.push_back(r.estimate);
      replicate_steps.push_back(static_cast<double>(r.particle_steps));
    }
  });
  for (auto& [at, cell] : by_cell) draws.push_back(std::move(cell));
}

// Those of the result; of an unfinished run, from the replicates that there are.
void Facts::read_cells(const Input& input) {
  if (finished) {
    for (const Json& c : input.run["result"]["cells"]) {
      Cell cell{c["level"], c["p"], c["count"], {}, {}, c["particle_steps"]};
      for (const Estimate& e : estimates) {
        cell.mean.push_back(maybe(c["mean"], e.name.c_str()).value_or(std::nan("")));
        cell.sd.push_back(maybe(c["sd"], e.name.c_str()).value_or(std::nan("")));
      }
      cells.push_back(std::move(cell));
    }
    return;
  }
  const Eigen::VectorXd slope = input.plan.estimator == Estimator::stratified
                                    ? slopes(input.model.parameters(), unconstrained(input.model.parameters(), theta))
                                    : Eigen::VectorXd::Ones(static_cast<Index>(theta.size()));
  for (const CellDraws& d : draws) {
    Cell cell{d.level, d.p, d.difference.size(), {}, {}, 0};
    const double n = static_cast<double>(cell.count);
    for (std::size_t p = 0; p < theta.size(); ++p) {
      double mean = 0, squares = 0;
      for (const auto& x : d.difference) mean += x[p] / n;
      for (const auto& x : d.difference) squares += (x[p] - mean) * (x[p] - mean);
      const double scale = slope[static_cast<Index>(p)];
      cell.mean.push_back(scale * mean);
      cell.sd.push_back(n > 1 ? std::abs(scale) * std::sqrt(squares / (n - 1)) : std::nan(""));
    }
    for (const double cost : d.particle_steps) cell.particle_steps += static_cast<std::uint64_t>(cost);
    cells.push_back(std::move(cell));
  }
}
}  // namespace mckean::report
