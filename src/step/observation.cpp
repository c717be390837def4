#include "step/observation.hpp"

namespace mckean {
namespace {

ProgramSpec observation_spec(const Model& model) {
  ProgramSpec spec{model.parameter_symbols(), {model.time()}, {}, {}, {}};
  for (const auto& c : model.components()) spec.columns.push_back(c.symbol);
  for (const auto& y : model.observed()) {
    spec.uniforms.push_back(y.symbol);
    spec.outputs.push_back(y.log_density);
  }
  return spec;
}
}  // namespace

Observation::Observation(const Model& model) : program(observation_spec(model)), dimension(model.dimension()) {}
}  // namespace mckean
