#include "engine/particles/observation_frame.hpp"

#include <algorithm>
#include <cmath>

namespace mckean {

ObservationFrame::ObservationFrame(const Observation& observation, std::size_t particles, const Kernels& kernels)
    : observation_(observation),
      kernels_(kernels),
      particles_(particles),
      frame_(observation.program, kernels),
      memory_(observation.program.outputs() * kBlock) {}

std::size_t ObservationFrame::evaluate(double t, std::span<const double> values, const Columns& x, double* log_g) {
  std::vector<double> uniforms{t};
  uniforms.insert(uniforms.end(), values.begin(), values.end());
  frame_.set_uniforms(uniforms);
  std::vector<const double*> in(observation_.dimension);
  std::vector<double*> out(values.size());
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = memory_.data() + c * kBlock;
  const Kernel add = kernels_.run[static_cast<std::size_t>(Instr::add)];
  for_blocks(particles_, [&](std::size_t first, std::size_t n) {
    const std::size_t padded = (n + kLanes - 1) / kLanes * kLanes;
    for (std::size_t c = 0; c < in.size(); ++c) in[c] = x[c] + first;
    frame_.run(in, out, n);
    double* total = log_g + first;
    std::fill_n(total, padded, 0.0);
    for (std::size_t c = 0; c < out.size(); ++c)
      if (!std::isnan(values[c])) add(total, nullptr, {total, 1}, {out[c], 1}, {out[c], 1}, padded);
  });
  return static_cast<std::size_t>(std::ranges::count_if(values, [](double v) { return !std::isnan(v); }));
}
}  // namespace mckean
