#include "engine/quadrature/moving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/quadrature/backward.hpp"
#include "law/law.hpp"
#include "mckean/tasks.hpp"

namespace mckean {
namespace {

constexpr double kUsualDepth = 5;  // an observation that moves the filter by three standard deviations

bool observed(const BlockRow& row) {
  return std::ranges::any_of(row.values, [](double y) { return !std::isnan(y); });
}
}  // namespace

Moving::Moving(const Setting& setting)
    : setting_(setting),
      model_(setting.formulas.blocks.model),
      laws_(setting.formulas, setting.schedule.grid, setting.accuracy, setting.theta),
      weigher_(setting.formulas, setting.theta, setting.temper),
      log_value_(jet_size(setting.formulas.all())) {}

QuadratureValue Moving::run(std::span<const Prediction> predictions) {
  const auto& visits = setting_.schedule.visits;
  for (const Prediction& p : predictions) predictions_.emplace_back(p, kernels()).set_parameters(setting_.theta);
  for (std::size_t s = 0; s < visits.size(); ++s) {
    if (!predictions.empty())
      prediction_errors_.emplace_back(visits[s].size() * model_.observed().size(), std::nan(""));
    for (const Block& block : setting_.formulas.blocks.all) add_filter(s, block);
  }
  travel();
  for (const double v : log_value_)
    if (!std::isfinite(v))
      report_overflow(model_, setting_.theta, setting_.schedule.grid.level, setting_.schedule.grid.time[laws_.now()],
                      "the derivatives of densities");
  return result();
}

std::vector<Smoothed> Moving::smooth(std::size_t series, const Block& block) {
  keeps_ = true;
  add_filter(series, block);
  travel();
  Filter& f = filters_[0];
  const KindFormulas& kind = setting_.formulas.kinds[block.kind];
  const auto& visits = setting_.schedule.visits[series];
  std::vector<Smoothed> out(visits.size());
  Backward backward(setting_.formulas.bell, setting_.accuracy.cut);
  f.passed.push_back(std::move(f.moving));
  const GridDensity& last = f.passed.back().density;
  std::vector<double> p(last.mass[0], last.mass[0] + last.points);
  const double total = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& v : p) v /= total;
  std::size_t row = visits.size();
  for (std::size_t k = f.passed.size(); k-- > 0;) {
    if (setting_.stop.stop_requested()) throw Stopped{};
    if (k + 1 < f.passed.size()) p = backward.step(f.passed[k], f.passed[k + 1].density, p);
    for (; row > 0 && visits[row - 1].point == k; --row)
      out[visits[row - 1].row] = summarise(in_x(kind, f.passed[k].density), p);
  }
  return out;
}

// Nothing that comes after the last observation is felt by the likelihood.
void Moving::add_filter(std::size_t series, const Block& block) {
  const auto& visits = setting_.schedule.visits[series];
  Filter f{series, block, laws_.transport(block.kind).origin(setting_.formulas.all()), 0, 0, 0, {}};
  for (std::size_t v = 0; v < visits.size(); ++v)
    if (keeps_ || observed(row_of(f, visits[v]))) f.visits = v + 1;
  if (f.visits > 0) filters_.push_back(std::move(f));
}

void Moving::travel() {
  const Grid& grid = setting_.schedule.grid;
  const std::string at = fmt::format("level {}, with {}", grid.level, to_text(model_.parameters(), setting_.theta));
  try {
    to_every_point();
  } catch (const GridTooLarge&) {
    throw TooMuchWork(fmt::format(
        "model '{}': by t = {:.6g}, {}, densities need too large a grid: they are much wider than the "
        "smallest noise of a step or the sharpest observation, or the dynamics explode; take particles, or shorter "
        "steps",
        model_.name(), grid.time[laws_.now()], at));
  } catch (const NoiseVanishes& n) {
    const Block& block = *std::ranges::find(setting_.formulas.blocks.all, n.kind, &Block::kind);
    throw StepsTooLong(fmt::format(
        "model '{}': by t = {:.6g} a step of level {} takes {:.2g} of the mass of {} beyond {:.4g}, where its noise "
        "vanishes, which the diffusion itself never passes, with {}; raise the level, which makes steps shorter, or "
        "ask for continuous time",
        model_.name(), grid.time[laws_.now()], grid.level, n.share, model_.components()[block.components[0]].name, n.at,
        to_text(model_.parameters(), setting_.theta)));
  }
}

void Moving::to_every_point() {
  for (std::size_t k = 0; k <= setting_.schedule.grid.steps(); ++k) {
    if (setting_.stop.stop_requested()) throw Stopped{};
    laws_.arrive(k);
    for (Filter& f : filters_)
      if (k == 0 || f.moving.fields) move(f);
  }
}

BlockRow Moving::row_of(const Filter& f, const Schedule::Visit& visit) const {
  const Schedule& schedule = setting_.schedule;
  BlockRow out{f.block, schedule.grid.time[visit.point], {}, [&schedule, s = f.series, visit] {
                 return schedule.where(s, visit);
               }};
  const auto values = schedule.values(f.series, visit);
  for (const std::size_t c : f.block.columns) out.values.push_back(values[c]);
  return out;
}

// To the grid point that the laws have reached.
void Moving::move(Filter& f) {
  const auto& visits = setting_.schedule.visits[f.series];
  Transport& transport = laws_.transport(f.block.kind);
  const bool here = f.visit < f.visits && visits[f.visit].point == laws_.now();
  Arrival a{laws_.next_variance(), f.visit + (here ? 1 : 0) < f.visits, {}, laws_.lattice(f.block.kind)};
  std::optional<Weighed> seen;
  const BlockRow row = here ? row_of(f, visits[f.visit]) : BlockRow{f.block, 0, {}, {}};
  if (observed(row))
    a.observe = [&](GridDensity& d) {
      predict(d, row, f.series, visits[f.visit].row);
      seen = weigher_.weigh(d, row, transport.accuracy().least());
      return std::move(seen->curvature);
    };
  MovingDensity there = transport.step(
      f.moving, a, [&](GridDensity& d) { return laws_.fields(f.block.kind, d, "densities of a filter"); });
  if (keeps_ && laws_.now() > 0) f.passed.push_back(std::move(f.moving));
  f.moving = std::move(there);
  if (here) ++f.visit;
  if (!seen) return;
  for (std::size_t i = 0; i < log_value_.size(); ++i) log_value_[i] += seen->log_total[i];
  // Observations that keep pulling a filter into its tails may need what was cut off long before.
  f.surprise += std::max(0.0, seen->depth - kUsualDepth);
  const Accuracy& accuracy = transport.accuracy();
  if (accuracy.cut < kWidestCut && 2 * f.surprise > -std::log(accuracy.least()) - accuracy.log_error - 1)
    throw CutTooShort();
}

void Moving::predict(const GridDensity& d, const BlockRow& row, std::size_t series, std::size_t at) {
  if (predictions_.empty()) return;
  std::vector<double> errors;
  predictions_[row.block.view].errors(row.t, row.values, {d.x, d.points, d.mass[0]}, errors);
  for (std::size_t c = 0; c < errors.size(); ++c)
    prediction_errors_[series][at * model_.observed().size() + row.block.columns[c]] = errors[c];
}

QuadratureValue Moving::result() const {
  const Formulas& formulas = setting_.formulas;
  QuadratureValue out{log_value_[0], {}, {}, laws_.grid_steps(), laws_.pairs(), {}};
  for (const auto& errors : prediction_errors_)
    out.prediction_errors.insert(out.prediction_errors.end(), errors.begin(), errors.end());
  const auto n = static_cast<Eigen::Index>(formulas.all());
  out.gradient.resize(n);
  out.hessian.resize(n, n);
  const auto place = [&](std::size_t p) { return static_cast<Eigen::Index>(formulas.order[p - 1]); };
  for (std::size_t b = 1; b <= formulas.all(); ++b) {
    out.gradient(place(b)) = log_value_[jet_index(0, b)];
    for (std::size_t a = 1; a <= formulas.all(); ++a) out.hessian(place(a), place(b)) = log_value_[jet_index(a, b)];
  }
  return out;
}
}  // namespace mckean
