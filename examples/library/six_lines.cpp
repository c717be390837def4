// A model and its fit in six lines.
#include <cstdio>
#include <mckean/fit.hpp>
#include <vector>

int main() {
  const std::vector<double> times{1, 2, 3, 4, 5, 6, 7, 8}, values{1.2, 3.1, 2.9, 4.0, 3.6, 5.9, 5.2, 5.6};

  mckean::ModelSpec m("kuramoto");
  auto x = m.state("x", 1.5), theta = m.parameter("theta", 0.4);
  m.drift(x, theta + m.interaction("pull", sin(x - other(x))));
  m.diffusion(x, 0.15), m.observe("y", normal(x, 1.0));
  const auto f = mckean::fit({m.build(), mckean::Data::of(times, values)});
  for (const auto& p : f.parameters) std::printf("%s %g ± %g\n", p.name.c_str(), p.value, p.std_error);
}
