#include "step/step.hpp"

namespace mckean {
namespace {

Motion motion_of(const Model& model, const MeanField& field) {
  Motion out;
  for (const auto& c : model.components()) {
    out.x.push_back(c.symbol);
    out.drift.push_back(substitute(c.drift, field.replace));
    out.sigma.push_back(c.diffusion);
  }
  return out;
}

// x + factor · slope
std::vector<Expr> along(const std::vector<Expr>& x, Expr factor, const std::vector<Expr>& slope) {
  std::vector<Expr> point;
  for (std::size_t c = 0; c < x.size(); ++c) point.push_back(x[c] + factor * slope[c]);
  return point;
}
}  // namespace

const char* name_of(Scheme scheme) { return scheme == Scheme::euler ? "euler" : "splitting"; }

Step euler_step(const Model& model, const Motion& motion) {
  Step step;
  step.rate = motion.drift;
  step.stages.push_back({0, motion.x, motion.drift, {}});
  step.sigma = motion.sigma;
  step.flow_per_variance = model.graph().number(1);
  return step;
}

Step splitting_step(const Model& model, const Motion& motion) {
  const std::vector<Expr>& x = motion.x;
  const StepSymbols time(model);
  const Expr half = 0.5 * time.flow;
  Step step;
  std::size_t symbols = 0;
  const auto add_stage = [&](double share, const std::vector<Expr>& point) {
    Substitution there{{time.t.id(), time.t + share * time.flow}};
    for (std::size_t c = 0; c < x.size(); ++c) there.emplace(x[c].id(), point[c]);
    Step::Stage stage{share, point, substitute(motion.drift, there), {}};
    for (std::size_t c = 0; c < x.size() && step.stages.size() < 3; ++c)
      stage.symbol.push_back(model.graph().symbol({Kind::column, "slope", static_cast<int>(symbols++)}));
    step.stages.push_back(std::move(stage));
  };
  add_stage(0, x);
  add_stage(0.5, along(x, half, step.stages[0].symbol));
  add_stage(0.5, along(x, half, step.stages[1].symbol));
  add_stage(1, along(x, time.flow, step.stages[2].symbol));
  const auto& s = step.stages;
  for (std::size_t c = 0; c < x.size(); ++c)
    step.rate.push_back((s[0].symbol[c] + 2.0 * (s[1].symbol[c] + s[2].symbol[c]) + s[3].slope[c]) / 6.0);
  step.sigma = motion.sigma;
  step.sigma_on_arrival = true;
  step.flow_per_variance = time.flow / time.variance;
  return step;
}

Step euler_step(const Model& model, const MeanField& field) { return euler_step(model, motion_of(model, field)); }
Step splitting_step(const Model& model, const MeanField& field) {
  return splitting_step(model, motion_of(model, field));
}

StepMaker step_of(Scheme scheme) {
  if (scheme == Scheme::euler) return euler_step;
  return splitting_step;
}

StepSymbols::StepSymbols(const Model& model) : t(model.time()) {
  const auto uniform = [&](const char* name) { return model.graph().symbol({Kind::uniform, name, 0}); };
  flow = uniform("flow"), variance = uniform("variance"), root = uniform("root"), next_t = uniform("next_t");
}
}  // namespace mckean
