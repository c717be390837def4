#include "engine/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/density.hpp"

namespace mckean {
namespace {

std::vector<std::size_t> named_columns(const Model& model) {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < model.observed().size(); ++c)
    if (model.observed()[c].distribution != Distribution::custom) out.push_back(c);
  return out;
}

ProgramSpec spec_of(const Model& model, const std::vector<std::size_t>& columns) {
  ProgramSpec spec{model.parameter_symbols(), {model.time()}, {}, {}, {}};
  for (const auto& c : model.components()) spec.columns.push_back(c.symbol);
  for (const std::size_t c : columns) {
    const Moments m = moments_of(model.observed()[c]);
    spec.outputs.push_back(m.mean);
    spec.outputs.push_back(m.variance);
  }
  return spec;
}
}  // namespace

Prediction::Prediction(const Model& model)
    : model_(model), columns_(named_columns(model)), program_(spec_of(model.copy(), columns_)) {}

PredictionFrame::PredictionFrame(const Prediction& prediction, const Kernels& kernels)
    : prediction_(prediction), frame_(prediction.program_, kernels), memory_(prediction.program_.outputs() * kBlock) {}

void PredictionFrame::errors(double t, std::span<const double> values, const Points& points, std::vector<double>& to) {
  const std::vector<std::size_t>& columns = prediction_.columns_;
  const std::size_t first_error = to.size();
  to.resize(first_error + values.size(), std::numeric_limits<double>::quiet_NaN());
  if (columns.empty()) return;
  frame_.set_uniforms(std::span(&t, 1));
  std::vector<const double*> in(prediction_.model_.dimension());
  std::vector<double*> out(prediction_.program_.outputs());
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = memory_.data() + c * kBlock;
  std::vector<double> means(columns.size()), squares(means), variances(means);
  for_blocks(points.count, [&](std::size_t first, std::size_t n) {
    for (std::size_t c = 0; c < in.size(); ++c) in[c] = points.x[c] + first;
    frame_.run(in, out, n);
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (std::size_t i = 0; i < n; ++i) {
        const double w = points.weights ? points.weights[first + i] : 1;
        if (w == 0) continue;
        means[c] += w * out[2 * c][i];
        squares[c] += w * out[2 * c][i] * out[2 * c][i];
        variances[c] += w * out[2 * c + 1][i];
      }
  });
  const double N = points.weights ? 1 : static_cast<double>(points.count);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const double mean = means[c] / N, variance = squares[c] / N - mean * mean + variances[c] / N;
    if (variance > 0 && std::isfinite(variance))
      to[first_error + columns[c]] = (values[columns[c]] - mean) / std::sqrt(variance);
  }
}
}  // namespace mckean
