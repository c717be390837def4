#include "engine/quadrature/quadrature_engine.hpp"

#include <fmt/format.h>

#include "mckean/error.hpp"
#include "problem/blocks.hpp"

namespace mckean {
namespace {

constexpr double kPairsPerStep = 40;  // values of a kernel that cost as much as the move of a point of a grid

// Whether a formula of the state is not smooth: there the rectangle rule errs by the square of the grid's step.
bool has_kink(Expr root) {
  for (const Expr e : reachable(std::span(&root, 1))) {
    if (!e.has(Kind::state) && !e.has(Kind::other_state)) continue;
    switch (e.op()) {
      case Op::min:
      case Op::max:
      case Op::abs:
      case Op::sign:
      case Op::relu:
      case Op::select:
      case Op::less:
      case Op::less_equal:
      case Op::equal:
      case Op::not_equal:
        return true;
      default:
        break;
    }
  }
  return false;
}

// The formula that has one; empty where none has.
std::string kink_of(const Model& model) {
  for (const auto& c : model.components()) {
    if (has_kink(c.drift)) return fmt::format("the drift of '{}'", c.name);
    for (const Expr s : c.diffusion)
      if (has_kink(s)) return fmt::format("the diffusion of '{}'", c.name);
  }
  for (const auto& i : model.interactions())
    if (has_kink(i.kernel)) return fmt::format("the interaction '{}'", i.name);
  for (const auto& y : model.observed()) {
    const bool named = y.distribution != Distribution::custom;
    for (const Expr e : named ? y.arguments : std::vector<Expr>{y.log_density})
      if (has_kink(e)) return fmt::format("the density of '{}'", y.name);
  }
  return "";
}

constexpr std::size_t kMostNames = 4;

// "'x', 'v' and 3 more"
std::string names(const Model& model, const Block& block) {
  const std::size_t all = block.components.size(), shown = all <= kMostNames ? all : kMostNames - 1;
  std::string out;
  for (std::size_t k = 0; k < shown; ++k)
    out += fmt::format("{}'{}'",
                       k == 0         ? ""
                       : k + 1 == all ? " and "
                                      : ", ",
                       model.components()[block.components[k]].name);
  return shown == all ? out : fmt::format("{} and {} more", out, all - shown);
}
}  // namespace

std::optional<std::string> QuadratureEngine::refuses(const Problem& problem) {
  const Model& model = problem.model();
  const Blocks blocks(model);
  if (const Block& largest = blocks.largest(); largest.components.size() > 1)
    return fmt::format(
        "model '{}': {} meet in a drift, a noise or an observation; densities on a grid need components that meet only "
        "through averages over the law",
        model.name(), names(model, largest));
  for (const auto& c : model.components())
    if (!c.noisy) return fmt::format("model '{}': '{}' has no noise; its law has no density", model.name(), c.name);
  if (!blocks.joint.empty())
    return fmt::format(
        "model '{}': the interaction '{}' is an average over several components that is no sum of products of averages "
        "over each",
        model.name(), blocks.joint);
  if (const std::string where = kink_of(model); !where.empty())
    return fmt::format("model '{}': {} is not a smooth function of the state, which densities on a grid do not resolve",
                       model.name(), where);
  return {};
}

namespace {

// The value of f, or why there is none.
template <class T, class F>
Result<T> attempt(F&& f) {
  try {
    return f();
  } catch (const TooMuchWork& e) {
    return Failure{Failure::Code::too_much_work, e.what()};
  } catch (const StepsTooLong& e) {
    return Failure{Failure::Code::too_coarse, e.what()};
  } catch (const NumericalError& e) {
    return Failure{Failure::Code::undefined, e.what()};
  }
}
}  // namespace

Outcome QuadratureEngine::evaluate(const Law& law, Order order, Draw, const Request& r) const {
  if (!quadrature_.has_steps(r.effort.scheme))
    return Failure{Failure::Code::undefined,
                   "densities on grids whose noise depends on the state move by Euler's steps alone"};
  Accuracy accuracy = r.error > 0 ? Accuracy::with_error(r.error) : accuracy_;
  if (r.most_work > 0) accuracy.total = r.most_work;
  const Quadrature quadrature = quadrature_.with(r.effort.level, accuracy, r.stop, r.effort.scheme);
  const auto wanted = order == Order::value ? Quadrature::Order::value : Quadrature::Order::second;
  return attempt<Evaluation>([&]() -> Outcome {
    const std::optional<QuadratureValue> found =
        r.accepts_implausible ? std::optional(quadrature.value(law.theta(), wanted, r.effort.temper, r.predictions))
                              : quadrature.plausible(law.theta(), wanted, r.effort.temper);
    if (!found)
      return Failure{Failure::Code::implausible, "observations lie deep in the tails of what the model predicts"};
    Evaluation out;
    out.loglik = found->loglik;
    out.gradient.assign(found->gradient.begin(), found->gradient.end());
    for (const double h : found->hessian.reshaped()) out.information.push_back(-h);
    out.prediction_errors = found->prediction_errors;
    out.work = static_cast<double>(found->grid_steps) + found->pairs / kPairsPerStep;
    return out;
  });
}

std::optional<Result<States>> QuadratureEngine::states(const Law& law, const Request& r) const {
  return attempt<States>([&]() -> Result<States> {
    return quadrature_.with(r.effort.level, accuracy_, r.stop, r.effort.scheme).states(law.theta());
  });
}
}  // namespace mckean
