#include "step/step.hpp"

namespace mckean {

Step euler_step(const Model& model, const MeanField& field) {
  Step step;
  for (const auto& c : model.components()) {
    step.rate.push_back(substitute(c.drift, field.replace));
    step.sigma.push_back(c.diffusion);
  }
  step.flow_per_variance = model.graph().number(1);
  return step;
}

StepSymbols::StepSymbols(const Model& model) : t(model.time()) {
  const auto uniform = [&](const char* name) { return model.graph().symbol({Kind::uniform, name, 0}); };
  flow = uniform("flow"), variance = uniform("variance"), root = uniform("root"), next_t = uniform("next_t");
}
}  // namespace mckean
