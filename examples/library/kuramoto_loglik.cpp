// Data from a model that is built in C++, and their log-likelihood at the value they were drawn with.
#include <cstdio>
#include <mckean/likelihood.hpp>
#include <mckean/simulate.hpp>

int main() {
  mckean::ModelSpec spec("kuramoto");
  const auto x = spec.state("x", 1.5);
  const auto theta = spec.parameter({"theta", 0.4});
  spec.drift("x", theta + spec.interaction("pull", sin(x - other(x))));
  spec.diffusion("x", spec.number(0.15));
  spec.observe("y", {mckean::Distribution::normal, {x, spec.number(1)}, {}});
  const mckean::Model model(spec);

  const double at[] = {0.5}, times[] = {1, 2, 3, 4, 5};
  const mckean::Data data = simulate(model, at, times, {});
  const auto engine = mckean::make_engine("particles", {model, data});
  const auto found = engine->at(at, mckean::Order::value, {}, {.effort = {.level = 5, .particles = 4096}});
  if (!found) return std::fprintf(stderr, "%s\n", found.failure().message.c_str()), 1;
  std::printf("%zu observations, log-likelihood %.4f\n", data.series[0].times.size(), found->loglik);
}
