#include "engine/quadrature/quadrature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "engine/quadrature/moving.hpp"

namespace mckean {

namespace {
constexpr double kPlausibleCut = 13;  // standard deviations: tails that a few outliers of many observations need
}  // namespace

// What does not depend on the level.
struct Quadrature::Compiled {
  struct OfScheme {
    OfScheme(const Model& model, Scheme scheme) : plain(model, false, scheme), second(model, true, scheme) {
      const Blocks& blocks = plain.blocks;
      for (const BlockView& view : blocks.views)
        predictions.emplace_back(blocks.model, blocks.kinds[view.kind].x, view.columns);
    }
    Formulas plain, second;
    std::vector<Prediction> predictions;  // by view
  };

  explicit Compiled(const Problem& p) : problem(p), euler(p.model(), Scheme::euler) {
    if (mckean::has_steps(euler.plain.blocks, Scheme::splitting)) splitting.emplace(p.model(), Scheme::splitting);
  }
  Problem problem;
  OfScheme euler;
  std::optional<OfScheme> splitting;
};

struct Quadrature::Parts {
  Parts(std::shared_ptr<const Compiled> c, int level, Accuracy a, std::stop_token s, Scheme scheme)
      : compiled(std::move(c)),
        formulas(scheme == Scheme::euler ? compiled->euler : *compiled->splitting),
        schedule(compiled->problem.data(), level, compiled->problem.unit(), scheme),
        accuracy(a),
        stop(std::move(s)) {}
  const Model& model() const { return compiled->problem.model(); }

  std::shared_ptr<const Compiled> compiled;
  const Compiled::OfScheme& formulas;
  Schedule schedule;
  Accuracy accuracy;
  std::stop_token stop;
};

Quadrature::Quadrature(const Problem& problem, int level, Accuracy accuracy)
    : Quadrature(std::make_shared<const Parts>(std::make_shared<const Compiled>(problem), level, accuracy,
                                               std::stop_token{}, Scheme::euler)) {}

Quadrature Quadrature::with(int level, Accuracy accuracy, std::stop_token stop, Scheme scheme) const {
  return Quadrature(std::make_shared<const Parts>(parts_->compiled, level, accuracy, std::move(stop), scheme));
}

bool Quadrature::has_steps(Scheme scheme) const {
  return scheme == Scheme::euler || parts_->compiled->splitting.has_value();
}

Scheme Quadrature::best_scheme() const {
  const bool pairs = !parts_->compiled->euler.plain.blocks.pairwise.empty();
  return has_steps(Scheme::splitting) && !pairs ? Scheme::splitting : Scheme::euler;
}

template <class F>
auto Quadrature::with_tails(double widest, F&& f) const -> std::optional<std::invoke_result_t<F, Accuracy>> {
  for (Accuracy accuracy = parts_->accuracy;; accuracy.cut = std::min(std::numbers::sqrt2 * accuracy.cut, widest)) {
    try {
      return f(accuracy);
    } catch (const CutTooShort&) {
      if (accuracy.cut >= widest) return {};
    }
  }
}

template <class F>
auto Quadrature::with_all_tails(std::span<const double> theta, F&& f) const {
  if (auto found = with_tails(kWidestCut, f)) return *std::move(found);
  throw NumericalError(
      fmt::format("{}: an observation lies too far from all that the model predicts for double precision, with {}",
                  parts_->schedule.data.source, to_text(parts_->model().parameters(), theta)));
}

std::optional<QuadratureValue> Quadrature::plausible(std::span<const double> theta, Order order, double temper) const {
  return with_tails(kPlausibleCut, [&](Accuracy a) { return evaluate(theta, order, a, temper, false); });
}

QuadratureValue Quadrature::value(std::span<const double> theta, Order order, double temper, bool predictions) const {
  return with_all_tails(theta, [&](Accuracy a) { return evaluate(theta, order, a, temper, predictions); });
}

States Quadrature::states(std::span<const double> theta) const {
  const Formulas& formulas = parts_->formulas.plain;
  return with_all_tails(theta, [&](Accuracy a) {
    a.resolution *= 1.5;  // for quantiles, which need the densities between the points
    States out;
    for (std::size_t s = 0; s < parts_->schedule.visits.size(); ++s) {
      out.emplace_back(parts_->model().dimension());
      for (const Block& block : formulas.blocks.all)
        out.back()[block.components[0]] =
            Moving({formulas, parts_->schedule, a, theta, 1, parts_->stop}).smooth(s, block);
    }
    return out;
  });
}

QuadratureValue Quadrature::evaluate(std::span<const double> theta, Order order, Accuracy accuracy, double temper,
                                     bool predictions) const {
  const Formulas& formulas = order == Order::value ? parts_->formulas.plain : parts_->formulas.second;
  Moving moving({formulas, parts_->schedule, accuracy, theta, temper, parts_->stop});
  return moving.run(predictions ? std::span(parts_->formulas.predictions) : std::span<const Prediction>());
}
}  // namespace mckean
