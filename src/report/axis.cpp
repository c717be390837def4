#include "report/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/html.hpp"

namespace mckean::report {
namespace {

constexpr double kRoom = 0.04;                          // of the range, at either end
constexpr double kDigitWidth = 7.7, kSignWidth = 10.5;  // of 12 px DejaVu Sans, which is wide

std::vector<Tick> linear_ticks(const Axis& axis, std::size_t most) {
  const double range = axis.high - axis.low;
  double step = std::pow(10, std::floor(std::log10(range)) - 2);
  if (axis.whole) step = std::max(step, 1.0);
  // 1, 2, 5, 10, 20, … until they are few enough.
  for (int k = 0; std::floor(axis.high / step) - std::ceil(axis.low / step) + 1 > static_cast<double>(most); ++k)
    step *= k % 3 == 1 ? 2.5 : 2;
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step * 1.0001))));
  const double largest = std::max(std::abs(axis.low), std::abs(axis.high));
  const bool plain = largest < 1e6 && decimals <= 6;
  std::vector<Tick> out;
  for (double k = std::ceil(axis.low / step); k <= std::floor(axis.high / step); ++k) {
    const double value = k == 0 ? 0 : k * step;
    std::string label = plain ? fmt::format("{:.{}f}", value, decimals)
                              : short_number(value, static_cast<int>(std::log10(largest / step)) + 2);
    if (label.starts_with('-')) label = "−" + label.substr(1);
    out.push_back({value, label});
  }
  return out;
}

std::vector<Tick> log_ticks(const Axis& axis, std::size_t most) {
  const auto within = [&](const std::vector<double>& factors, int each) {
    std::vector<Tick> out;
    for (int e = static_cast<int>(std::floor(std::log10(axis.low))); e <= std::ceil(std::log10(axis.high)); ++e)
      for (const double f : factors) {
        const double value = f * std::pow(10, e);
        if (e % each == 0 && value >= axis.low && value <= axis.high) out.push_back({value, short_number(value)});
      }
    return out;
  };
  for (const auto& factors : {std::vector<double>{1, 2, 5}, std::vector<double>{1, 3}})
    if (auto out = within(factors, 1); out.size() <= most && out.size() > 1) return out;
  for (int each = 1;; ++each)
    if (auto out = within({1}, each); out.size() <= most)
      // Less than a decade that contains no such number.
      return out.size() > 1 ? out : linear_ticks({axis.low, axis.high, false, axis.whole}, most);
}
}  // namespace

double Axis::place(double v) const {
  return log ? (std::log10(v) - std::log10(low)) / (std::log10(high) - std::log10(low)) : (v - low) / (high - low);
}

bool Axis::shows(double v) const { return std::isfinite(v) && (!log || v > 0); }

Axis axis_around(const std::vector<double>& values, bool log) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double v : values)
    if (Axis{0, 1, log}.shows(v)) low = std::min(low, v), high = std::max(high, v);
  if (low > high) return log ? Axis{0.1, 10, true} : Axis{0, 1, false};
  if (log) {
    const double factor = std::max(1.05, std::pow(high / low, kRoom));
    return {low / factor, high * factor, true};
  }
  const double least = 1e-9 * std::max(std::abs(low), std::abs(high));
  if (high - low <= least)
    return {low - std::max(0.5 * std::abs(low), 0.5), high + std::max(0.5 * std::abs(high), 0.5)};
  const double room = kRoom * (high - low);
  return {low - room, high + room};
}

std::vector<Tick> ticks(const Axis& axis, std::size_t most) {
  most = std::max<std::size_t>(most, 2);
  return axis.log ? log_ticks(axis, most) : linear_ticks(axis, most);
}

double text_width(const std::string& text) {
  double width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) continue;  // it continues a character
    width += byte < 0x80 ? kDigitWidth : kSignWidth;
  }
  return width;
}
}  // namespace mckean::report
