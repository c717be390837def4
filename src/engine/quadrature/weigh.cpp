#include "engine/quadrature/weigh.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "engine/quadrature/placement.hpp"
#include "law/law.hpp"

namespace mckean {
namespace {

// Shares of the mass, and of what an observation leaves of it, that no result feels.
constexpr double kNegligible = 1e-13;
constexpr double kMayMatter = 30;  // what is cut off may have this share, in units of that of the peak at which it is

// Jet of a product, entry (a, b), of u and v.
template <class U, class V>
double product(std::size_t a, std::size_t b, U&& u, V&& v) {
  if (b == 0) return u(0, 0) * v(0, 0);
  if (a == 0) return u(0, b) * v(0, 0) + u(0, 0) * v(0, b);
  return u(a, b) * v(0, 0) + u(0, a) * v(0, b) + u(0, b) * v(0, a) + u(0, 0) * v(a, b);
}

// mass ← mass · exp(log_g − largest), with its derivatives.
void multiply(GridDensity& density, const Columns& log_g, double largest) {
  std::vector<double> before(density.mass.count());
  for (std::size_t i = 0; i < density.points; ++i) {
    const double w = std::exp(log_g[0][i] - largest);
    const auto l = [&](std::size_t b) { return log_g[jet_index(0, b)][i]; };
    const auto factor = [&](std::size_t a, std::size_t b) {
      return b == 0 ? w : a == 0 ? w * l(b) : w * (log_g[jet_index(a, b)][i] + l(a) * l(b));
    };
    const auto mass = [&](std::size_t a, std::size_t b) { return before[jet_index(a, b)]; };
    for (std::size_t c = 0; c < before.size(); ++c) before[c] = density.mass[c][i];
    for_each_entry(density.parameters, [&](std::size_t a, std::size_t b) {
      // Slopes may have poles where G is 0.
      density.mass[jet_index(a, b)][i] = w > 0 && before[0] > 0 ? product(a, b, mass, factor) : 0;
    });
  }
}

// Divides by the total Z, with derivatives: mass = p Z is solved for the jet of p. Returns the jet of Z over Z.
std::vector<double> normalise(GridDensity& density, double& total) {
  std::vector<double> z;
  for (std::size_t c = 0; c < density.mass.count(); ++c) {
    double sum = 0;
    for (std::size_t i = 0; i < density.points; ++i) sum += density.mass[c][i];
    z.push_back(sum);
  }
  total = z[0];
  for (double& v : z) v /= total;
  for_each_entry(density.parameters, [&](std::size_t a, std::size_t b) {
    double* out = density.mass[jet_index(a, b)];
    const double *p = density.mass[0], *pa = density.mass[jet_index(0, a)], *pb = density.mass[jet_index(0, b)];
    for (std::size_t i = 0; i < density.points; ++i) {
      out[i] /= total;
      if (b > 0) out[i] -= p[i] * z[jet_index(a, b)];
      if (a > 0) out[i] -= pa[i] * z[jet_index(0, b)] + pb[i] * z[jet_index(0, a)];
    }
  });
  return z;
}
// Masses below `least` times the peak are cut off sooner or later, and must not matter. Returns the depth.
double check_tails(const GridDensity& after, const std::vector<double>& before, double peak, double least) {
  double doubtful = 0, depth = 0;
  for (std::size_t i = 0; i < after.points; ++i) {
    const double p = after.mass[0][i];
    if (!(p > 0)) continue;
    if (before[i] < least * peak) doubtful += p;
    depth -= p * std::log(before[i] / peak);
  }
  if (doubtful > std::max(kNegligible, kMayMatter * least)) throw CutTooShort();
  return depth;
}
}  // namespace

Weigher::Weigher(const Formulas& formulas, std::span<const double> theta, double temper)
    : formulas_(formulas), theta_(theta), temper_(temper) {
  for (const auto& columns : formulas.observe) {
    frames_.emplace_back();
    for (const Program& p : columns) frames_.back().emplace_back(p).set_fixed(theta);
  }
}

// The jet of Σ log G over the observed columns, then its curvature.
Columns Weigher::log_density(const GridDensity& density, const BlockRow& row) {
  const std::size_t width = density.mass.count() + 1;
  Columns sum(width, density.points), one(width, density.points);
  std::vector<double*> out;
  one.append_to(out);
  for (std::size_t c = 0; c < row.values.size(); ++c) {
    if (std::isnan(row.values[c])) continue;
    Frame& frame = frames_[row.block.view][c];
    frame.set_uniforms(std::array{row.t, row.values[c]});
    frame.over(density.points, std::array{density.x[0]}, out);
    for (std::size_t k = 0; k < width; ++k)
      for (std::size_t i = 0; i < density.points; ++i) sum[k][i] += temper_ * one[k][i];
  }
  return sum;
}

void Weigher::fail(const GridDensity& density, const BlockRow& row, const std::string& why) const {
  const Model& model = formulas_.blocks.model;
  const GridDensity points = in_x(formulas_.kinds[row.block.kind], density);
  std::string seen;
  for (std::size_t c = 0; c < row.values.size(); ++c)
    if (!std::isnan(row.values[c]))
      seen +=
          fmt::format("{}{} = {:.6g}", seen.empty() ? "" : ", ", model.columns()[row.block.columns[c]], row.values[c]);
  throw NumericalError(
      fmt::format("{}: observation {}: {}, at {}, where {} is between {:.6g} and {:.6g}; check the value, the "
                  "observation's density "
                  "and the parameters",
                  row.where(), seen, why, to_text(model.parameters(), theta_),
                  model.components()[row.block.components[0]].name, points.x[0][0], points.x[0][points.points - 1]));
}

Weighed Weigher::weigh(GridDensity& density, const BlockRow& row, double least) {
  Columns log_g = log_density(density, row);
  double* g = log_g[0];
  double largest = -std::numeric_limits<double>::infinity(), mass = 0, undefined = 0;
  for (std::size_t i = 0; i < density.points; ++i) {
    mass += density.mass[0][i];
    if (std::isnan(g[i]) || g[i] == std::numeric_limits<double>::infinity()) {
      undefined += density.mass[0][i];
      g[i] = -std::numeric_limits<double>::infinity();
    }
    if (density.mass[0][i] > 0) largest = std::max(largest, g[i] + std::log(density.mass[0][i]));
  }
  if (undefined > kNegligible * mass) fail(density, row, "the log density is not a number for some states");
  if (std::isinf(largest)) fail(density, row, "the log density is -inf for every state");

  const double peak = density.mass[0][density.peak()];
  const std::vector<double> before(density.mass[0], density.mass[0] + density.points);
  multiply(density, log_g, largest);
  double total = 0;
  const std::vector<double> z = normalise(density, total);
  Weighed out{std::vector<double>(density.mass.count()), Columns(1, density.points),
              density.points > 1 ? check_tails(density, before, peak, least) : 0};

  for_each_entry(density.parameters, [&](std::size_t a, std::size_t b) {
    const double slopes = a > 0 ? z[jet_index(0, a)] * z[jet_index(0, b)] : 0;
    out.log_total[jet_index(a, b)] = b == 0 ? largest + std::log(total) : z[jet_index(a, b)] - slopes;
  });
  for (std::size_t i = 0; i < density.points; ++i) out.curvature[0][i] = -log_g[log_g.count() - 1][i];
  return out;
}
}  // namespace mckean
