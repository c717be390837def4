#include "report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/html.hpp"

namespace mckean::report {
namespace {

constexpr std::size_t kMostPoints = 600, kMostHovers = 150;
constexpr double kTop = 22, kBottom = 40, kRight = 14, kTickGap = 8;

const char* style_name(SeriesStyle style) {
  constexpr const char* kNames[] = {"c1", "c2", "c3", "c4", "ref"};
  return kNames[static_cast<int>(style)];
}

// The plot's place within the drawing.
struct Frame {
  double left, right, top, bottom;
  Axis x, y;
  double px(double v) const { return left + std::clamp(x.place(v), -1.0, 2.0) * (right - left); }
  double py(double v) const { return bottom - std::clamp(y.place(v), -1.0, 2.0) * (bottom - top); }
};

// As many ticks as have room.
std::vector<Tick> fitting_ticks(const Axis& axis, double length) {
  for (std::size_t most = 9; most > 2; --most) {
    auto out = ticks(axis, most);
    double widest = 0;
    for (const Tick& t : out) widest = std::max(widest, text_width(t.label));
    if ((widest + 2 * kTickGap) * static_cast<double>(out.size()) <= length) return out;
  }
  return ticks(axis, 2);
}

std::string polyline(const Frame& f, const Points& points) {
  std::string path;
  bool pen = false;
  for (const auto& [x, y] : points) {
    if (!f.x.shows(x) || !f.y.shows(y)) {
      pen = false;
      continue;
    }
    path += fmt::format("{}{:.1f} {:.1f}", pen ? "L" : "M", f.px(x), f.py(y));
    pen = true;
  }
  return path;
}

std::string axes(const Frame& f, const std::string& x_name, const std::string& y_name, double height) {
  std::string grid, text;
  for (const Tick& t : fitting_ticks(f.x, f.right - f.left)) {
    grid += fmt::format("M{:.1f} {:.1f}V{:.1f}", f.px(t.value), f.top, f.bottom + 4);
    // Under its tick, unless it would leave the drawing there.
    const double middle = std::min(f.px(t.value), f.right + kRight - text_width(t.label) / 2);
    text += fmt::format("<text class=\"mid\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", middle, f.bottom + 17, t.label);
  }
  for (const Tick& t : ticks(f.y, static_cast<std::size_t>((f.bottom - f.top) / 36))) {
    grid += fmt::format("M{:.1f} {:.1f}H{:.1f}", f.left - 4, f.py(t.value), f.right);
    text += fmt::format("<text class=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", f.left - kTickGap, f.py(t.value) + 4,
                        t.label);
  }
  text +=
      fmt::format("<text class=\"end name\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", f.right, height - 4, escaped(x_name));
  text += fmt::format("<text class=\"name\" x=\"2\" y=\"12\">{}</text>", escaped(y_name));
  return fmt::format("<path class=\"grid\" d=\"{}\"/><path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>{}", grid,
                     f.left, f.top, f.bottom, f.right, text);
}
}  // namespace

SeriesStyle series_style(std::size_t k) { return static_cast<SeriesStyle>(k % 4); }

void Chart::see(const Points& points) {
  for (const auto& [x, y] : points) xs_.push_back(x), ys_.push_back(y);
}

void Chart::name_it(const char* kind, SeriesStyle style, const std::string& name) {
  if (!name.empty()) legend_.push_back({fmt::format("{} {}", kind, style_name(style)), name});
}

void Chart::line(const Points& points, SeriesStyle style, const std::string& name) {
  see(points);
  shapes_.push_back({Shape::Kind::line, style, thinned(points, kMostPoints)});
  name_it("line", style, name);
}

void Chart::dots(const Points& points, SeriesStyle style, const std::string& name) {
  see(points);
  shapes_.push_back({Shape::Kind::dots, style, thinned(points, kMostPoints)});
  name_it("dot", style, name);
}

void Chart::band(const std::vector<double>& x, const std::vector<double>& low, const std::vector<double>& high,
                 SeriesStyle style, const std::string& name) {
  Points lower, upper;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isfinite(low[i]) && std::isfinite(high[i]))
      lower.emplace_back(x[i], low[i]), upper.emplace_back(x[i], high[i]);
  see(lower), see(upper);
  Points around = thinned(lower, kMostPoints);
  const Points back = thinned(upper, kMostPoints);
  around.insert(around.end(), back.rbegin(), back.rend());
  shapes_.push_back({Shape::Kind::area, style, std::move(around)});
  // One within another is darker.
  const bool within = std::ranges::count(shapes_, Shape::Kind::area, &Shape::kind) > 1;
  name_it(within ? "area deep" : "area", style, name);
}

void Chart::error_bars(const std::vector<double>& x, const std::vector<double>& low, const std::vector<double>& high,
                       SeriesStyle style) {
  Points ends;
  for (std::size_t i = 0; i < x.size(); ++i) ends.emplace_back(x[i], low[i]), ends.emplace_back(x[i], high[i]);
  see(ends);
  shapes_.push_back({Shape::Kind::bars, style, std::move(ends)});
}

void Chart::level(double y, const std::string& name) {
  levels_.push_back(y), ys_.push_back(y);
  name_it("line", SeriesStyle::reference, name);
}

void Chart::mark(double x, const std::string& name) {
  marks_.push_back(x), xs_.push_back(x);
  name_it("line", SeriesStyle::reference, name);
}

void Chart::hover(double x, const std::string& text) { hovers_.emplace_back(x, text); }

std::string Chart::svg(double width, double height, const char* which) const {
  Frame f{0, width - kRight, kTop, height - kBottom, axis_around(xs_, spec_.log_x), axis_around(ys_, spec_.log_y)};
  f.x.whole = spec_.whole_x;
  for (const Tick& t : ticks(f.y, static_cast<std::size_t>((f.bottom - f.top) / 36)))
    f.left = std::max(f.left, text_width(t.label) + kTickGap + 3);
  std::string out = fmt::format("<svg class=\"{}\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}. {}\">",
                                which, width, height, escaped(spec_.title), escaped(spec_.description));
  out += axes(f, spec_.x, spec_.y, height);
  for (const Shape& s : shapes_) {
    const char* const style = style_name(s.style);
    if (s.kind == Shape::Kind::line) {
      out += fmt::format("<path class=\"line {}\" d=\"{}\"/>", style, polyline(f, s.points));
    } else if (s.kind == Shape::Kind::area) {
      out += fmt::format("<path class=\"area {}\" d=\"{}Z\"/>", style, polyline(f, s.points));
    } else {
      // Dots are lines of no length with round ends.
      std::string path;
      const bool dots = s.kind == Shape::Kind::dots;
      for (std::size_t i = 0; i < s.points.size(); i += dots ? 1 : 2) {
        const auto& [x, y] = s.points[i];
        const double other = dots ? y : s.points[i + 1].second;
        if (!f.x.shows(x) || !f.y.shows(y) || !f.y.shows(other)) continue;
        path += dots ? fmt::format("M{:.1f} {:.1f}h0", f.px(x), f.py(y))
                     : fmt::format("M{:.1f} {:.1f}V{:.1f}", f.px(x), f.py(y), f.py(other));
      }
      out += fmt::format("<path class=\"{} {}\" d=\"{}\"/>", dots ? "dot" : "line", style, path);
    }
  }
  for (const double y : levels_)
    if (f.y.shows(y))
      out += fmt::format("<path class=\"line ref\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", f.left, f.py(y), f.right);
  for (const double x : marks_)
    if (f.x.shows(x))
      out += fmt::format("<path class=\"line ref\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", f.px(x), f.top, f.bottom);
  // Strips from half-way to half-way between places that have something to say.
  auto hovers = hovers_;
  std::ranges::stable_sort(hovers, {}, &std::pair<double, std::string>::first);
  const auto kept = spread(hovers.size(), kMostHovers);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const auto at = [&](std::size_t i) { return f.px(hovers[kept[i]].first); };
    const double from = k == 0 ? f.left : (at(k - 1) + at(k)) / 2;
    const double to = k + 1 == kept.size() ? f.right : (at(k) + at(k + 1)) / 2;
    out += fmt::format(
        "<rect class=\"hover\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{}</title></rect>",
        from, f.top, std::max(0.0, to - from), f.bottom - f.top, escaped(hovers[kept[k]].second));
  }
  return out + "</svg>\n";
}

std::string Chart::html(bool half) const {
  std::string out =
      fmt::format("<div class=\"chart{}\">\n<p class=\"title\">{}</p>\n", half ? " half" : "", escaped(spec_.title));
  if (!legend_.empty()) {
    out += "<ul class=\"legend\">";
    for (const Named& n : legend_)
      out +=
          fmt::format("<li><span class=\"swatch {}\" aria-hidden=\"true\"></span>{}</li>", n.swatch, escaped(n.name));
    out += "</ul>\n";
  }
  constexpr double kWide = 820, kNarrow = 370;
  if (half) return out + svg(kNarrow + 20, 250, "any") + "</div>\n";
  return out + svg(kWide, 300, "wide") + svg(kNarrow, 250, "narrow") + "</div>\n";
}

std::string figure(const std::string& charts, const std::string& caption, const std::string& file,
                   const std::string& csv) {
  return fmt::format("<figure>\n<div class=\"charts\">\n{}</div>\n<figcaption>{} {}</figcaption>\n</figure>\n", charts,
                     caption, download(file, "text/csv", csv, "Numbers (" + file + ")"));
}
}  // namespace mckean::report
