// An engine whose likelihood is known: a function of θ plus normal noise whose variance falls as 1/M. For tests of
// inference in milliseconds.
#pragma once

#include <cmath>
#include <functional>
#include <optional>

#include "infer/search/normal_draws.hpp"
#include "infer/search/search.hpp"
#include "mckean/error.hpp"
#include "noise/noise.hpp"

namespace mckean::search {

// Tasks one after another; stops, or is out of time, after so many batches.
class SerialRunner : public TaskRunner {
 public:
  std::vector<std::vector<double>> run(std::span<const Task> tasks, const TaskFunction& function) override {
    if (++batches > stop_after) throw Stopped{};
    std::vector<std::vector<double>> out;
    for (std::size_t i = 0; i < tasks.size(); ++i) out.push_back(function(i, {}));
    return out;
  }
  bool out_of_time() override { return batches >= time_after; }

  std::size_t batches = 0, stop_after = SIZE_MAX, time_after = SIZE_MAX;
};

struct Synthetic : Engine {
  // None where there is no likelihood.
  std::function<std::optional<double>(std::span<const double> theta, const Effort&)> value;
  std::function<bool(std::span<const double> theta, const Effort&)> explodes = [](auto, const Effort&) {
    return false;
  };
  double noise = 100;                                                                      // variance times M
  std::function<double(std::span<const double> theta)> louder = [](auto) { return 1.0; };  // and times this
  std::vector<Parameter> unknowns;
  SearchOptions options = {};
  double cost = 1;  // of a step; of a law of pairs, times N
  LawKind kind = LawKind::none;
  std::uint64_t seed = 1;
  double of_ahead = 0;        // the noise of particles that look ahead, as a share; 0: they cannot
  double cost_of_ahead = 3;   // of a step of theirs, as a multiple
  double least_widening = 1;  // below which theirs is a hundred times as large

  std::string_view name() const override { return "synthetic"; }
  bool exact() const override { return noise == 0; }
  Order serves() const override { return Order::value; }
  const std::vector<Parameter>& parameters() const override { return unknowns; }
  Result<std::shared_ptr<const Law>> law(std::span<const double> theta, Draw, const Request&) const override {
    return std::make_shared<const Law>(theta);
  }
  Outcome evaluate(const Law& at, Order, Draw draw, const Request& r) const override {
    if (explodes(at.theta(), r.effort)) return Failure{Failure::Code::too_coarse, "an explosion"};
    const auto known = value(at.theta(), r.effort);
    if (!known) return Failure{Failure::Code::undefined, "nothing here"};
    NormalDraws normal(seed_of(draw.seed, std::to_string(draw.index)));
    double variance = noise * louder(at.theta()) / static_cast<double>(r.effort.particles);
    if (r.effort.ahead) variance *= of_ahead * (r.effort.widening < least_widening ? 100 : 1);
    const double sd = r.effort.temper * std::sqrt(variance);
    Evaluation out;
    // As log p̂ is: its mean is half its variance below.
    out.loglik = r.effort.temper * *known + sd * normal.next() - sd * sd / 2;
    out.work = static_cast<double>(r.effort.particles << r.effort.level);
    return out;
  }
  LawKind law_kind() const override { return kind; }
  bool looks_ahead() const override { return of_ahead > 0; }
  double step_cost(const Effort& e) const override {
    return cost * (e.ahead ? cost_of_ahead : 1) * (kind == LawKind::pairs ? static_cast<double>(e.law_particles) : 1);
  }

  Found run() { return run(runner); }
  Found run(SerialRunner& with) const {
    FitObserver observer;
    Evaluations evaluations(*this, with, observer, seed);
    return search(evaluations, unknowns, options);
  }

  SerialRunner runner;
};
}  // namespace mckean::search
