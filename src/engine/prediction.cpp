#include "engine/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/density.hpp"

namespace mckean {
namespace {

std::vector<std::size_t> named_columns(std::span<const ObservedColumn> observed) {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < observed.size(); ++c)
    if (observed[c].distribution != Distribution::custom) out.push_back(c);
  return out;
}

std::vector<Expr> symbols(const Model& model) {
  std::vector<Expr> out;
  for (const auto& c : model.components()) out.push_back(c.symbol);
  return out;
}
}  // namespace

Prediction::Prediction(const Model& model, const std::vector<Expr>& x, std::span<const ObservedColumn> observed)
    : dimension_(x.size()), columns_(named_columns(observed)) {
  ProgramSpec spec{model.parameter_symbols(), {model.time()}, x, {}, {}};
  for (const std::size_t c : columns_) {
    const Moments m = moments_of(observed[c]);
    spec.outputs.push_back(m.mean);
    spec.outputs.push_back(m.variance);
  }
  program_ = Program(spec);
}

Prediction::Prediction(const Model& of) : dimension_(0) {
  const Model model = of.copy();
  *this = Prediction(model, symbols(model), model.observed());
}

PredictionFrame::PredictionFrame(const Prediction& prediction, const Kernels& kernels)
    : prediction_(prediction), frame_(prediction.program_, kernels), memory_(prediction.program_.outputs() * kBlock) {}

void PredictionFrame::errors(double t, std::span<const double> values, const Points& points, std::vector<double>& to) {
  const std::vector<std::size_t>& columns = prediction_.columns_;
  const std::size_t first_error = to.size();
  to.resize(first_error + values.size(), std::numeric_limits<double>::quiet_NaN());
  if (columns.empty()) return;
  frame_.set_uniforms(std::span(&t, 1));
  std::vector<const double*> in(prediction_.dimension_);
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
