#include "cli/derivative_check.hpp"

#include <algorithm>
#include <cmath>

namespace mckean::cli {
namespace {

struct Disagreement {
  double size = 1e-6, error = 0;
  void compare(double tangent, double above, double below, double h, double value) {
    // A tangent that vanishes is compared with the value itself.
    size = std::max({size, std::abs(tangent), 1e-3 * std::abs(value)});
    error = std::max(error, std::abs(tangent - (above - below) / (2 * h)));
  }
};
}  // namespace

double law_derivative_error(const System& system, const Grid& grid, std::span<const double> theta,
                            const LawNoise& noise, const LawOptions& base) {
  LawOptions options = base;
  options.derivative = Derivative::tangent;
  const LawPath law = draw_law(system, grid, theta, noise, options);
  options.derivative = Derivative::none;
  const std::size_t n = law.inputs.count(), d = law.dynamics->dimension;
  double worst = 0;
  for (std::size_t p = 0; p < law.dynamics->dynamic.size(); ++p) {
    const std::size_t j = law.dynamics->dynamic[p];
    const double h = 1e-5 * std::max(1.0, std::abs(theta[j]));
    std::vector<double> up(theta.begin(), theta.end()), down = up;
    up[j] += h, down[j] -= h;
    const LawPath above = draw_law(system, grid, up, noise, options),
                  below = draw_law(system, grid, down, noise, options);
    Disagreement found;
    for (std::size_t k = 0; k < law.points; ++k) {
      const bool same_windows = std::ranges::all_of(law.dynamics->field.windows, [&](const Window& w) {
        const std::size_t c = w.center_input;
        return law.inputs[c][k] == above.inputs[c][k] && law.inputs[c][k] == below.inputs[c][k] &&
               law.inputs[c + 1][k] == above.inputs[c + 1][k] && law.inputs[c + 1][k] == below.inputs[c + 1][k];
      });
      for (std::size_t i = 0; i < n && same_windows; ++i)
        found.compare(law.tangents[p * n + i][k], above.inputs[i][k], below.inputs[i][k], h, law.inputs[i][k]);
      for (std::size_t c = 0; c < d && law.position_columns > 0; ++c)
        for (std::size_t i = 0; i < law.particles; ++i)
          found.compare(law.position(k, d * (1 + p) + c)[i], above.position(k, c)[i], below.position(k, c)[i], h,
                        law.position(k, c)[i]);
    }
    worst = std::max(worst, found.error / found.size);
  }
  return worst;
}

double expression_derivative_error(const Model& model) {
  std::vector<Expr> roots;
  std::unordered_map<std::uint32_t, double> point{{model.time().id(), 0.37}};
  for (const auto& c : model.components()) {
    roots.push_back(c.drift);
    roots.insert(roots.end(), c.diffusion.begin(), c.diffusion.end());
    point[c.symbol.id()] = c.start + 0.1 + 0.7 * c.start_sd;
    point[other(c.symbol).id()] = c.start - 0.2 - 0.4 * c.start_sd;
  }
  for (const auto& i : model.interactions()) roots.push_back(i.kernel), point[i.symbol.id()] = 0.3;
  for (const auto& y : model.observed()) roots.push_back(y.log_density), point[y.symbol.id()] = 1;
  for (std::size_t p = 0; p < model.parameters().size(); ++p)
    point[model.parameter_symbols()[p].id()] = model.parameters()[p].start;
  double worst = 0;
  std::erase_if(roots, [](Expr e) { return e.is_number(); });
  for (const Expr root : roots)
    for (const Expr symbol : reachable(std::span(&root, 1))) {
      if (symbol.op() != Op::symbol || symbol.has(Kind::time | Kind::observed)) continue;
      const double at = point.at(symbol.id()), h = 1e-6 * std::max(1.0, std::abs(at));
      const double exact = evaluate(differentiate(root, symbol), point);
      point[symbol.id()] = at + h;
      const double above = evaluate(root, point);
      point[symbol.id()] = at - h;
      const double below = evaluate(root, point);
      point[symbol.id()] = at;
      const double numerical = (above - below) / (2 * h), size = std::max({1.0, std::abs(exact), std::abs(above)});
      if (std::isfinite(exact) && std::isfinite(numerical)) worst = std::max(worst, std::abs(exact - numerical) / size);
    }
  return worst;
}
}  // namespace mckean::cli
