#include "cli/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mckean::cli {

std::string plot(const std::function<double(double)>& curve, const std::vector<double>& marks,
                 const PlotOptions& options) {
  const auto width = static_cast<std::size_t>(options.width), height = static_cast<std::size_t>(options.height);
  const double low = marks.front(), high = marks.back(), dx = (high - low) / (options.width - 1);
  double bottom = 1.2 * options.level;
  for (std::size_t c = 0; c < width; ++c) bottom = std::min(bottom, curve(low + static_cast<double>(c) * dx));
  const auto row = [&](double y) {
    return static_cast<std::size_t>(std::lround(std::clamp(y / bottom, 0.0, 1.0) * (options.height - 1)));
  };
  std::vector<std::string> canvas(height, std::string(width, ' '));
  const std::size_t dashed = row(options.level);
  for (std::size_t c = 0; c < width; c += 2) canvas[dashed][c] = '-';
  for (std::size_t c = 0; c < width; ++c) canvas[row(curve(low + static_cast<double>(c) * dx))][c] = '.';
  for (const double x : marks) {
    const auto c = static_cast<std::size_t>(std::lround((x - low) / dx));
    canvas[row(curve(x))][std::min(c, width - 1)] = 'o';
  }
  std::string out;
  for (std::size_t r = 0; r < height; ++r) {
    const bool labelled = r == 0 || r == dashed || r + 1 == height;
    const double y = r == 0 ? 0 : r == dashed ? options.level : bottom;
    out += fmt::format("{:>8} |{}\n", labelled ? fmt::format("{:.2f}", y) : "", canvas[r]);
  }
  const std::string from = fmt::format("{:.5g}", low), to = fmt::format("{:.5g}", high);
  const std::size_t middle = width - std::min(width, from.size() + to.size());
  out += fmt::format("{:>8} +{}\n", "", std::string(width, '-'));
  return out + fmt::format("{:>10}{}{:^{}}{}\n", "", from, options.x_name, middle, to);
}
}  // namespace mckean::cli
