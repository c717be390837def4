#include "engine/particles/degeneracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "law/law.hpp"
#include "mckean/error.hpp"

namespace mckean {
namespace {

// From here down, for each observed number, a likelihood is zero in double precision.
constexpr double kLogZero = -700;

template <class Value>
std::string list(std::size_t count, Value&& value) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string item = value(i);
    if (item.empty()) continue;
    if (text.size() > 160) return text + ", …";
    text += (text.empty() ? "" : ", ") + item;
  }
  return text;
}
}  // namespace

bool degenerate(const WeightSum& w) { return !std::isfinite(w.largest) || w.effective() < 1 + 1e-6; }

bool impossible(const Weighing& w) {
  const auto observed = std::ranges::count_if(w.values, [](double v) { return !std::isnan(v); });
  return !std::isfinite(w.weights.largest) ||
         (degenerate(w.weights) && w.weights.largest < kLogZero * static_cast<double>(observed));
}

std::string describe(const Weighing& w, const std::string& where) {
  const auto& components = w.model.components();
  const std::string parameters = to_text(w.model.parameters(), w.theta);
  const std::string seen = list(w.values.size(), [&](std::size_t c) {
    return std::isnan(w.values[c]) ? "" : fmt::format("{} = {:.6g}", w.model.columns()[c], w.values[c]);
  });
  if (!std::isfinite(w.weights.largest)) {
    const std::string range = list(components.size(), [&](std::size_t c) {
      const auto [low, high] = std::minmax_element(w.x[c], w.x[c] + w.particles);
      return fmt::format("{} from {:.6g} to {:.6g}", components[c].name, *low, *high);
    });
    throw NumericalError(fmt::format(
        "{}: observation {}: the log density is {} {}, at {}, where the particles have {}; check the value, the "
        "observation's density and the parameters",
        where, seen, w.weights.largest, std::isnan(w.weights.largest) ? "for some particle" : "for every particle",
        parameters, range));
  }
  const std::string nearest = list(
      components.size(), [&](std::size_t c) { return fmt::format("{} = {:.6g}", components[c].name, w.x[c][w.best]); });
  std::string text = fmt::format("{}: observation {}, nearest particle {} with log density {:.6g}, at {}", where, seen,
                                 nearest, w.weights.largest, parameters);
  if (impossible(w)) throw NumericalError(text + "; no particle explains it: check the value and the parameters");
  return text;
}
}  // namespace mckean
