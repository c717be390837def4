#include "step/observation_score.hpp"

namespace mckean {

ObservationScore::ObservationScore(const Model& of) : dimension(of.dimension()), columns(of.observed().size()) {
  const Model model = of.copy();
  ProgramSpec spec{model.parameter_symbols(), {}, {}, {}, {}};
  for (const auto& c : model.components()) spec.columns.push_back(c.symbol);
  spec.columns.push_back(model.time());
  for (std::size_t c = 0; c < model.observed().size(); ++c) {
    spec.columns.push_back(model.observed()[c].symbol);
    for (std::size_t p = 0; p < model.parameters().size(); ++p) {
      const Expr slope = differentiate(model.observed()[c].log_density, model.parameter_symbols()[p]);
      if (slope.is_number(0)) continue;
      terms.push_back({c, p});
      spec.outputs.push_back(slope);
    }
  }
  program = Program(spec);
}
}  // namespace mckean
