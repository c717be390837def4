#include "engine/quadrature/quadrature.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "engine/prediction.hpp"
#include "engine/quadrature/backward.hpp"
#include "engine/quadrature/weigh.hpp"
#include "law/law.hpp"
#include "mckean/tasks.hpp"
#include "problem/schedule.hpp"

namespace mckean {

// What does not depend on the level.
struct Quadrature::Compiled {
  explicit Compiled(const Problem& p)
      : problem(p), plain(p.model(), false), second(p.model(), true), prediction(problem.model()) {}
  Problem problem;
  Formulas plain, second;
  Prediction prediction;
};

struct Quadrature::Parts {
  Parts(std::shared_ptr<const Compiled> c, int level, Accuracy a, std::stop_token s)
      : compiled(std::move(c)),
        schedule(compiled->problem.data(), level, compiled->problem.unit()),
        accuracy(a),
        stop(std::move(s)) {}
  const Model& model() const { return compiled->problem.model(); }

  std::shared_ptr<const Compiled> compiled;
  Schedule schedule;
  Accuracy accuracy;
  std::stop_token stop;
};

namespace {

// A density may be undefined where it has no more than this share of its peak.
constexpr double kNegligible = 1e-15;

constexpr double kUsualDepth = 5;  // an observation that moves the filter by three standard deviations
constexpr double kWidestCut = 36;  // whose tails double precision still holds

// One evaluation: the law and one filter for each series move along the grid of time.
class Moving {
 public:
  Moving(const Model& model, const Formulas& formulas, const Schedule& schedule, Accuracy accuracy,
         std::span<const double> theta, double temper, std::stop_token stop)
      : model_(model),
        formulas_(formulas),
        schedule_(schedule),
        theta_(theta),
        transport_(formulas, accuracy),
        reader_(formulas, theta),
        weigher_(model, formulas, theta, temper),
        log_value_(jet_size(formulas.all())),
        stop_(std::move(stop)) {}

  void predict_by(const Prediction& prediction) {
    prediction_.emplace(prediction, kernels());
    prediction_->set_parameters(theta_);
  }

  QuadratureValue run() {
    try {
      travel();
    } catch (const GridTooLarge&) {
      throw TooMuchWork(fmt::format(
          "model '{}': by t = {:.6g}, level {}, with {}, densities need too large a grid: they are much wider than the "
          "smallest noise of a step or the sharpest observation, or the dynamics explode; use particles instead "
          "(--estimator stratified in a fit, scores in a profile), or raise the level",
          model_.name(), schedule_.grid.time[now_], schedule_.grid.level, to_text(model_.parameters(), theta_)));
    } catch (const NoiseVanishes& n) {
      throw StepsTooLong(fmt::format(
          "model '{}': by t = {:.6g} a step of level {} takes {:.2g} of the mass of {} beyond {:.4g}, where its noise "
          "vanishes, which the diffusion itself never passes, with {}; raise the level, which makes steps shorter, or "
          "ask for continuous time",
          model_.name(), schedule_.grid.time[now_], schedule_.grid.level, n.share, model_.components()[0].name, n.at,
          to_text(model_.parameters(), theta_)));
    }
    for (const double v : log_value_)
      if (!std::isfinite(v)) overflow("the derivatives of densities");
    return result();
  }

  States smooth() {
    keeps_ = true;
    run();
    States out;
    for (Filter& f : filters_) out.push_back({smoothed(f)});
    return out;
  }

 private:
  struct Filter {
    std::size_t series, row;  // the next row that is observed
    Body body;
    double surprise = 0;  // how deep in its tails observations were, beyond what is usual
    std::vector<double> prediction_errors;
    std::vector<Body> passed;  // before this one, at every point of the grid of time, where they are kept
  };

  std::vector<Smoothed> smoothed(Filter& f) {
    const auto& visits = schedule_.visits[f.series];
    std::vector<Smoothed> out(visits.size());
    Backward backward(formulas_, transport_.accuracy().cut);
    f.passed.push_back(std::move(f.body));
    const GridDensity& last = f.passed.back().density;
    std::vector<double> p(last.mass[0], last.mass[0] + last.points);
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& v : p) v /= total;
    std::size_t row = visits.size();
    for (std::size_t k = f.passed.size(); k-- > 0;) {
      if (stop_.stop_requested()) throw Stopped{};
      if (k + 1 < f.passed.size()) p = backward.step(f.passed[k], f.passed[k + 1].density, p);
      for (; row > 0 && visits[row - 1].point == k; --row) out[visits[row - 1].row] = summarise(f.passed[k].density, p);
    }
    return out;
  }

  void travel() {
    const Component& state = model_.components()[0];
    if (formulas_.reads_law()) law_ = transport_.start(state.start, state.start_sd, formulas_.dynamic, law_arrives(0));
    for (std::size_t s = 0; s < schedule_.visits.size(); ++s)
      begin(s, [&](const Arrival& a) { return transport_.start(state.start, state.start_sd, formulas_.all(), a); });
    for (std::size_t k = 1; k <= schedule_.grid.steps(); ++k) {
      if (stop_.stop_requested()) throw Stopped{};
      now_ = k;
      if (law_) law_ = transport_.step(*law_, law_arrives(k));
      for (Filter& f : filters_)
        if (f.body.fields) move(f, k, [&](const Arrival& a) { return transport_.step(f.body, a); });
    }
  }

  // Law and filters at grid point k, with the fields of the step that begins there.
  Arrival law_arrives(std::size_t k) {
    Arrival a{next_variance(k), {}, {}};
    if (k < schedule_.grid.steps())
      a.fields = [this, k](GridDensity& d) {
        moments_ = reader_.moments(d, schedule_.grid.time[k]);
        return fields(d, d, k, "densities of the law");
      };
    return a;
  }

  template <class Move>
  void begin(std::size_t s, Move&& move_to) {
    filters_.push_back({s, 0, Body{transport_.point(model_.components()[0].start, 0), std::nullopt}, 0, {}, {}});
    move(filters_.back(), 0, move_to);
  }

  template <class Move>
  void move(Filter& f, std::size_t k, Move&& move_to) {
    const auto& visits = schedule_.visits[f.series];
    Arrival a{next_variance(k), {}, {}};
    std::optional<Weighed> seen;
    const bool here = f.row < visits.size() && visits[f.row].point == k;
    if (here && schedule_.observed(f.series, visits[f.row]))
      a.observe = [&](GridDensity& d) {
        if (prediction_)
          prediction_->errors(schedule_.grid.time[k], schedule_.values(f.series, visits[f.row]),
                              {d.x, d.points, d.mass[0]}, f.prediction_errors);
        seen = weigher_.weigh(d, schedule_.grid.time[k], schedule_.values(f.series, visits[f.row]),
                              transport_.accuracy().least(), schedule_.where(f.series, visits[f.row]));
        return std::move(seen->curvature);
      };
    if (formulas_.difference && !formulas_.scale && law_->density.points > 1) a.lattice = law_->density.step;
    if (f.row + (here ? 1 : 0) < visits.size())
      a.fields = [&](GridDensity& d) { return fields(d, law_ ? law_->density : d, k, "densities of a filter"); };
    Body there = move_to(a);
    if (keeps_ && k > 0) f.passed.push_back(std::move(f.body));
    f.body = std::move(there);
    if (here && !seen && prediction_)
      f.prediction_errors.resize(f.prediction_errors.size() + model_.observed().size(), std::nan(""));
    if (here) ++f.row;
    if (!seen) return;
    for (std::size_t i = 0; i < log_value_.size(); ++i) log_value_[i] += seen->log_total[i];
    // Observations that keep pulling a filter into its tails may need what was cut off long before.
    f.surprise += std::max(0.0, seen->depth - kUsualDepth);
    if (transport_.accuracy().cut < kWidestCut &&
        2 * f.surprise > -std::log(transport_.accuracy().least()) - transport_.accuracy().log_error - 1)
      throw CutTooShort();
  }

  [[noreturn]] void overflow(const char* who) const {
    report_overflow(model_, theta_, schedule_.grid.level, schedule_.grid.time[now_], who);
  }

  double next_variance(std::size_t k) const { return k < schedule_.grid.steps() ? schedule_.grid.step[k].variance : 0; }

  Fields fields(GridDensity& density, const GridDensity& law, std::size_t k, const char* whose) {
    const double pairs = reader_.pairs(density, law);
    if (pairs > transport_.accuracy().work) throw GridTooLarge();
    pairs_ += pairs;
    Fields out = reader_.fields(density, law, moments_, schedule_.grid.step[k]);
    const std::size_t peak = density.peak();
    const auto defined = [&](std::size_t i) {
      for (std::size_t c = 0; c < out.mean.count(); ++c)
        if (!std::isfinite(out.mean[c][i])) return false;
      return std::isfinite(out.sd[0][i]) && out.sd[0][i] > 0;
    };
    for (std::size_t i = 0; i < density.points; ++i) {
      if (defined(i)) continue;
      if (!(density.mass[0][i] <= kNegligible * density.mass[0][peak]) || !defined(peak)) overflow(whose);
      for (std::size_t c = 0; c < density.mass.count(); ++c) density.mass[c][i] = 0;
      for (std::size_t c = 0; c < out.mean.count(); ++c) out.mean[c][i] = out.mean[c][peak];
      out.sd[0][i] = out.sd[0][peak];
    }
    return out;
  }

  QuadratureValue result() const {
    QuadratureValue out{log_value_[0], {}, {}, transport_.grid_steps(), pairs_, {}};
    for (const Filter& f : filters_)
      out.prediction_errors.insert(out.prediction_errors.end(), f.prediction_errors.begin(), f.prediction_errors.end());
    const auto n = static_cast<Eigen::Index>(formulas_.all());
    out.gradient.resize(n);
    out.hessian.resize(n, n);
    const auto place = [&](std::size_t p) { return static_cast<Eigen::Index>(formulas_.order[p - 1]); };
    for (std::size_t b = 1; b <= formulas_.all(); ++b) {
      out.gradient(place(b)) = log_value_[jet_index(0, b)];
      for (std::size_t a = 1; a <= formulas_.all(); ++a) out.hessian(place(a), place(b)) = log_value_[jet_index(a, b)];
    }
    return out;
  }

  const Model& model_;
  const Formulas& formulas_;
  const Schedule& schedule_;
  std::span<const double> theta_;
  Transport transport_;
  FieldReader reader_;
  Weigher weigher_;
  std::vector<double> log_value_;  // a jet
  double pairs_ = 0;
  std::size_t now_ = 0;  // the grid point that is being reached
  std::optional<Body> law_;
  std::vector<double> moments_;  // of the law where it is now
  std::vector<Filter> filters_;
  std::optional<PredictionFrame> prediction_;
  std::stop_token stop_;
  bool keeps_ = false;  // all densities of the filters
};
}  // namespace

Quadrature::Quadrature(const Problem& problem, int level, Accuracy accuracy)
    : Quadrature(std::make_shared<const Parts>(std::make_shared<const Compiled>(problem), level, accuracy,
                                               std::stop_token{})) {}

Quadrature Quadrature::with(int level, Accuracy accuracy, std::stop_token stop) const {
  return Quadrature(std::make_shared<const Parts>(parts_->compiled, level, accuracy, std::move(stop)));
}

std::optional<QuadratureValue> Quadrature::plausible(std::span<const double> theta, Order order, double temper) const {
  try {
    return evaluate(theta, order, parts_->accuracy, temper, false);
  } catch (const CutTooShort&) {
    return {};
  }
}

template <class F>
auto Quadrature::with_tails(std::span<const double> theta, F&& f) const {
  for (Accuracy accuracy = parts_->accuracy;; accuracy.cut = std::min(std::numbers::sqrt2 * accuracy.cut, kWidestCut)) {
    try {
      return f(accuracy);
    } catch (const CutTooShort&) {
      if (accuracy.cut >= kWidestCut)
        throw NumericalError(fmt::format(
            "{}: an observation lies too far from all that the model predicts for double precision, with {}",
            parts_->schedule.data.source, to_text(parts_->model().parameters(), theta)));
    }
  }
}

QuadratureValue Quadrature::value(std::span<const double> theta, Order order, double temper, bool predictions) const {
  return with_tails(theta, [&](Accuracy a) { return evaluate(theta, order, a, temper, predictions); });
}

States Quadrature::states(std::span<const double> theta) const {
  return with_tails(theta, [&](Accuracy a) {
    a.resolution *= 1.5;  // for quantiles, which need the densities between the points
    Moving moving(parts_->model(), parts_->compiled->plain, parts_->schedule, a, theta, 1, parts_->stop);
    return moving.smooth();
  });
}

QuadratureValue Quadrature::evaluate(std::span<const double> theta, Order order, Accuracy accuracy, double temper,
                                     bool predictions) const {
  const Formulas& formulas = order == Order::value ? parts_->compiled->plain : parts_->compiled->second;
  Moving moving(parts_->model(), formulas, parts_->schedule, accuracy, theta, temper, parts_->stop);
  if (predictions) moving.predict_by(parts_->compiled->prediction);
  return moving.run();
}
}  // namespace mckean
