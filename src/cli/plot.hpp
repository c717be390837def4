// A curve in the terminal.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace mckean::cli {

struct PlotOptions {
  double level;  // a dashed line at this height
  std::string x_name;
  int width = 61, height = 13;  // in characters
};

// A curve with its maximum at 0, over the range of the marks (ascending), which are shown as circles.
std::string plot(const std::function<double(double)>& curve, const std::vector<double>& marks, const PlotOptions&);
}  // namespace mckean::cli
