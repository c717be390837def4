#include "model/diffusion.hpp"

#include <fmt/format.h>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>

namespace mckean {

bool is_diagonal(const std::vector<Component>& components) {
  for (std::size_t i = 0; i < components.size(); ++i)
    for (std::size_t j = 0; j < components.size(); ++j)
      if (i != j && !components[i].diffusion[j].is_number(0)) return false;
  return true;
}

std::size_t drop_unfelt_sources(std::vector<Component>& components) {
  std::vector<std::size_t> felt;
  for (std::size_t j = 0; j < components.size(); ++j)
    if (std::ranges::any_of(components, [&](const auto& c) { return !c.diffusion[j].is_number(0); })) felt.push_back(j);
  for (auto& c : components) {
    std::vector<Expr> row;
    for (const std::size_t j : felt) row.push_back(c.diffusion[j]);
    c.diffusion = std::move(row);
  }
  return felt.size();
}

void check_diffusion_at_start(const std::vector<Component>& components, std::size_t sources, bool diagonal, Expr time) {
  std::unordered_map<std::uint32_t, double> at{{time.id(), 0.0}};
  for (const auto& c : components) at[c.symbol.id()] = c.start;
  std::vector<Eigen::VectorXd> directions;  // of the rows so far, each less what it shares with those before it
  std::size_t noisy = 0;
  for (const auto& c : components) {
    if (!c.noisy) continue;
    Eigen::VectorXd row(static_cast<Eigen::Index>(sources));
    for (std::size_t j = 0; j < sources; ++j) {
      const double v = evaluate(c.diffusion[j], at);
      if (!std::isfinite(v))
        throw SpecError(
            "diffusion", c.name,
            fmt::format("the diffusion of '{}' is {} at the start; change its formula, or start elsewhere", c.name,
                        std::isnan(v) ? "not a number"
                        : v > 0       ? "inf"
                                      : "-inf"));
      row[static_cast<Eigen::Index>(j)] = v;
    }
    if (row.norm() == 0)
      throw SpecError(
          "diffusion", c.name,
          fmt::format("the diffusion of '{}' is 0 at the start, so it is singular there; write 0 for a component that "
                      "never has noise, or start elsewhere",
                      c.name));
    ++noisy;
    if (diagonal) continue;  // rows that share no source are independent
    row.normalize();
    for (int again = 0; again < 2; ++again)
      for (const Eigen::VectorXd& d : directions) row -= row.dot(d) * d;
    if (row.norm() < 1e-12)
      throw SpecError("diffusion", c.name,
                      "the diffusion matrix is singular at the start: the rows of components with noise are linearly "
                      "dependent; give each a noise of its own, or a row of zeros");
    directions.push_back(row.normalized());
  }
  if (noisy == 0)
    throw SpecError("diffusion", "", "no component has noise; give at least one a diffusion other than 0");
}
}  // namespace mckean
