#include "law/law_track.hpp"

namespace mckean {

LawWatcher track_writer(const Model& model, std::vector<std::size_t> points, LawTrack& to) {
  const std::size_t d = model.dimension(), times = points.size();
  to.mean.assign(d * times, 0), to.variance.assign(d * times, 0);
  return [d, times, points = std::move(points), &to, next = std::size_t{0}](std::size_t point,
                                                                            const Cloud& cloud) mutable {
    if (point == 0) next = 0;
    for (; next < times && points[next] == point; ++next)
      for (std::size_t c = 0; c < d; ++c) {
        const double* x = cloud.state()[c];
        double sum = 0, squares = 0;
        for (std::size_t p = 0; p < cloud.particles(); ++p) sum += x[p];
        const double mean = sum / static_cast<double>(cloud.particles());
        for (std::size_t p = 0; p < cloud.particles(); ++p) squares += (x[p] - mean) * (x[p] - mean);
        to.mean[c * times + next] = mean;
        to.variance[c * times + next] = squares / static_cast<double>(cloud.particles() - 1);
      }
  };
}
}  // namespace mckean
