#include "law/settling.hpp"

#include <cmath>

namespace mckean {
namespace {

constexpr std::size_t kFew = 32, kMany = 512, kFewPairs = 32, kManyPairs = 256;
constexpr std::size_t kTimes = 40;
// Variances between laws that fall as 1/N have a ratio of F(15, 15) to what is expected: above 8 in one of 10^4 cases,
// and then they are hardly ever that large.
constexpr double kSlow = 8;
constexpr double kApart = 0.05;    // variance between laws, in that of a particle, that matters
constexpr double kInflated = 20;   // times what independent particles would have
constexpr double kGrowing = 1.35;  // as time doubles; twice for a free direction
}  // namespace

Settling::Settling(const System& system, const Grid& grid, std::size_t first_rank, std::uint64_t seed)
    : system_(system), grid_(grid), first_rank_(first_rank), seed_(seed) {
  const auto dynamics = system.dynamics(grid.scheme, system.ranks()[first_rank], false);
  reads_law_ = dynamics->reads_law();
  const bool pairs = !dynamics->field.pairwise.empty();
  few_ = pairs ? kFewPairs : kFew, many_ = pairs ? kManyPairs : kMany;
  const std::size_t all = grid.points.size(), n = std::min(all, kTimes);
  for (std::size_t i = 1; i <= n; ++i) points_.push_back(grid.points[i * all / n - 1]);
}

double Settling::work(std::size_t track) const {
  return static_cast<double>(particles(track)) * static_cast<double>(grid_.steps());
}

LawTrack Settling::track(std::size_t number, std::span<const double> theta) const {
  const auto replicate = static_cast<std::uint32_t>(number);
  const LawNoise noise{{seed_, replicate, 0, Purpose::law_start}, {seed_, replicate, 0, Purpose::law}};
  LawOptions options{.particles = particles(number), .first_rank = first_rank_};
  LawTrack out;
  const LawWatcher watch = track_writer(system_.model(), points_, out);
  try {
    while (run_law(system_, {grid_, theta}, noise, options, watch) != LawStatus::good) ++options.first_rank;
  } catch (const Explosion&) {
    return {};
  }
  return out;
}

Settling::Spread Settling::spread(std::span<const LawTrack> tracks, std::size_t component, std::size_t time) const {
  const std::size_t at = component * points_.size() + time;
  const auto between = [&](std::span<const LawTrack> laws) {
    double mean = 0, squares = 0;
    for (const LawTrack& l : laws) mean += l.mean[at] / kLaws;
    for (const LawTrack& l : laws) squares += (l.mean[at] - mean) * (l.mean[at] - mean);
    return squares / (kLaws - 1);
  };
  double within = 0;
  for (const LawTrack& l : tracks.subspan(kLaws)) within += l.variance[at] / kLaws;
  return {between(tracks.first(kLaws)), between(tracks.subspan(kLaws)), within};
}

// By the last time, the one before the half, and so on.
bool Settling::drifts(std::span<const LawTrack> tracks, std::size_t component) const {
  const std::size_t last = points_.size() - 1;
  if (last < 7) return false;
  const auto early = spread(tracks, component, last / 4), half = spread(tracks, component, last / 2),
             end = spread(tracks, component, last);
  return end.many * static_cast<double>(many_) > kInflated * end.particle && end.many > kGrowing * half.many &&
         half.many > kGrowing * early.many;
}

std::optional<Finding> Settling::judge(std::span<const LawTrack> tracks) const {
  for (const LawTrack& t : tracks)
    if (t.mean.empty()) return {};
  const double share = static_cast<double>(few_) / static_cast<double>(many_);
  const std::size_t components = system_.model().dimension(), last = points_.size() - 1;
  const auto found = [&](Finding::Code code, std::size_t component, std::size_t time) {
    const Spread s = spread(tracks, component, last);
    return Finding{code,
                   {{"component", system_.model().components()[component].name},
                    {"t", grid_.time[points_[time]]},
                    {"apart", std::sqrt(2 * s.many / s.particle)},
                    {"particles", many_}}};
  };
  for (std::size_t i = 0; i <= last; ++i)
    for (std::size_t c = 0; c < components; ++c) {
      const Spread s = spread(tracks, c, i);
      if (s.many > kSlow * share * s.few && s.many > kApart * s.particle) return found(Finding::Code::law_splits, c, i);
    }
  for (std::size_t c = 0; c < components; ++c)
    if (drifts(tracks, c)) return found(Finding::Code::law_drifts, c, last);
  return {};
}
}  // namespace mckean
