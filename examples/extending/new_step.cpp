// A step of one's own, from the sources of the project: the midpoint rule in place of Euler's. Every program of a law,
// a filter and a score is derived from these expressions.
#include <cmath>
#include <cstdio>
#include <vector>

#include "noise/columns.hpp"
#include "step/dynamics.hpp"

using namespace mckean;

// The drift half way along Euler's step, with the averages over the law held.
Step midpoint_step(const Model& model, const MeanField& field) {
  Step step = euler_step(model, field);
  const StepSymbols time(model);
  const Expr half = 0.5 * time.flow;
  Substitution middle{{time.t.id(), time.t + half}};
  for (std::size_t c = 0; c < step.rate.size(); ++c) {
    const Expr x = model.components()[c].symbol;
    middle.emplace(x.id(), x + half * step.rate[c]);
  }
  for (Expr& rate : step.rate) rate = substitute(rate, middle);
  step.flow_per_variance = time.flow / time.variance;
  return step;
}

// Where the particle x = 1 goes in one step without noise.
double moved(const Dynamics& dynamics, double flow) {
  Columns x(1, 1), z(1, 1), to(1, 1);
  x[0][0] = 1, z[0][0] = 0;
  Frame move(dynamics.move);
  move.set_fixed(std::vector{0.7});
  move.set_uniforms(std::vector{0.0, flow, 0.0});
  move.run(std::vector<const double*>{x[0], z[0]}, std::vector{to[0]}, 1);
  return to[0][0];
}

int main() {
  const Model model = parse_model(
      "[state]\nx = 1\n[parameters]\nk = 0.7\n[drift]\nx = \"-k*x\"\n[diffusion]\nx = 0.3\n"
      "[observation]\ny = \"normal(x, 1)\"\n",
      "decay.toml");
  const Dynamics euler(model, 0, false, euler_step), midpoint(model, 0, false, midpoint_step);
  double ratio = 0, before = 0;
  for (const double flow : {0.2, 0.1, 0.05}) {
    const double exact = std::exp(-0.7 * flow), error = moved(midpoint, flow) - exact;
    std::printf("flow %.2f: Euler errs by %.2e, the midpoint rule by %.2e\n", flow, moved(euler, flow) - exact, error);
    ratio = before / error, before = error;
  }
  return std::abs(ratio - 8) < 0.5 ? 0 : 1;  // of third order in one step
}
