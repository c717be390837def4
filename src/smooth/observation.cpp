#include "smooth/observation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mckean/error.hpp"
#include "model/density.hpp"

namespace mckean {

void check_support(const Model& model, const Data& data) {
  for (std::size_t s = 0; s < data.series.size(); ++s)
    for (std::size_t row = 0; row < data.series[s].times.size(); ++row)
      for (std::size_t c = 0; c < model.observed().size(); ++c) {
        const ObservedColumn& column = model.observed()[c];
        const double y = data.value(s, row, c);
        if (std::isnan(y) || column.distribution == Distribution::custom) continue;
        const auto& d = info(column.distribution);
        const bool bad = (d.support == DistributionInfo::count && (y < 0 || y != std::trunc(y))) ||
                         (d.support == DistributionInfo::positive && y <= 0);
        if (bad)
          throw InputError(fmt::format(
              "{}:{}: column '{}' is {}, but the model observes it as {}, whose values are {}; correct the value or "
              "the model",
              data.source, data.series[s].lines[row], column.name, y, d.name,
              d.support == DistributionInfo::count ? "whole numbers from 0" : "positive"));
      }
}

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

Observation::Observation(const Model& model) : model_(model), program_(observation_spec(model)) {}

ObservationFrame::ObservationFrame(const Observation& observation, std::size_t particles, const Kernels& kernels)
    : observation_(observation),
      kernels_(kernels),
      particles_(particles),
      frame_(observation.program_, kernels),
      memory_(observation.program_.outputs() * kBlock) {}

std::size_t ObservationFrame::evaluate(double t, std::span<const double> values, const Columns& x, double* log_g) {
  std::vector<double> uniforms{t};
  uniforms.insert(uniforms.end(), values.begin(), values.end());
  frame_.set_uniforms(uniforms);
  std::vector<const double*> in(observation_.model_.dimension());
  std::vector<double*> out(values.size());
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = memory_.data() + c * kBlock;
  const Kernel add = kernels_.run[static_cast<std::size_t>(Instr::add)];
  for (std::size_t first = 0; first < particles_; first += kBlock) {
    const std::size_t n = std::min(kBlock, particles_ - first), padded = (n + kLanes - 1) / kLanes * kLanes;
    for (std::size_t c = 0; c < in.size(); ++c) in[c] = x[c] + first;
    frame_.run(in, out, n);
    double* total = log_g + first;
    std::fill_n(total, padded, 0.0);
    for (std::size_t c = 0; c < out.size(); ++c)
      if (!std::isnan(values[c])) add(total, nullptr, {total, 1}, {out[c], 1}, {out[c], 1}, padded);
  }
  return static_cast<std::size_t>(std::ranges::count_if(values, [](double v) { return !std::isnan(v); }));
}
}  // namespace mckean
