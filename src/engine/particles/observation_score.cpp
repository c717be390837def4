#include <algorithm>
#include <cmath>

#include "engine/particles/score.hpp"

namespace mckean {

ObservationScoreFrame::ObservationScoreFrame(const ObservationScore& observation, const Kernels& kernels)
    : observation_(observation), frame_(observation.program, kernels) {}

void ObservationScoreFrame::add(const Schedule& schedule, std::size_t series, const Path& path,
                                std::span<double> gradient, std::span<double> information) {
  const auto& terms = observation_.terms;
  if (terms.empty()) return;
  const auto& visits = schedule.visits[series];
  const std::size_t d = observation_.dimension, width = observation_.columns, n = visits.size(), all = gradient.size();
  Columns columns(d + 1 + width, n), slopes(terms.size(), n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < d; ++c) columns[c][i] = path[c][visits[i].point];
    columns[d][i] = schedule.grid.time[visits[i].point];
    const auto values = schedule.values(series, visits[i]);
    for (std::size_t c = 0; c < width; ++c) columns[d + 1 + c][i] = values[c];
  }
  std::vector<const double*> in;
  std::vector<double*> out;
  columns.append_to(in);
  slopes.append_to(out);
  frame_.over(n, in, out);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t a = 0; a < terms.size(); ++a) {
      if (std::isnan(columns[d + 1 + terms[a].column][i])) continue;  // not observed
      gradient[terms[a].parameter] += slopes[a][i];
      for (std::size_t b = 0; b < terms.size(); ++b)
        if (terms[a].column == terms[b].column)
          information[terms[a].parameter * all + terms[b].parameter] += slopes[a][i] * slopes[b][i];
    }
}
}  // namespace mckean
