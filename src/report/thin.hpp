// Fewer points that look the same.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace mckean::report {

using Points = std::vector<std::pair<double, double>>;

// At most about `most` points of a polyline: of each of most/4 stretches the first, last, lowest and highest. Nothing
// that stands out is lost.
Points thinned(const Points&, std::size_t most);

// At most `most` of 0 .. count − 1, evenly spread, the first and the last among them.
std::vector<std::size_t> spread(std::size_t count, std::size_t most);

// The same on a logarithmic scale, of 1 .. count.
std::vector<std::size_t> spread_log(std::size_t count, std::size_t most);
}  // namespace mckean::report
