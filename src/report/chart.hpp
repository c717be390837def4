// A chart as inline SVG, drawn by us: lines, bands, dots and marks in a frame with axes.
#pragma once

#include <string>
#include <vector>

#include "report/axis.hpp"
#include "report/thin.hpp"

namespace mckean::report {

// How a thing is drawn: names of classes in the style sheet. first … fourth are series, told apart by colour and dash.
enum class SeriesStyle { first, second, third, fourth, reference };
SeriesStyle series_style(std::size_t k);

class Chart {
 public:
  struct Spec {
    std::string title;  // what a screen reader says first, and the heading above the chart
    std::string x, y;   // names of the axes
    bool log_x = false, log_y = false;
    std::string description = {};  // the numbers in a sentence, for those who do not see the chart
    bool whole_x = false;          // x counts
  };
  explicit Chart(Spec spec) : spec_(std::move(spec)) {}

  // `name` is what the legend says; nothing where it is empty.
  void line(const Points&, SeriesStyle, const std::string& name = {});
  void dots(const Points&, SeriesStyle, const std::string& name = {});
  void band(const std::vector<double>& x, const std::vector<double>& low, const std::vector<double>& high, SeriesStyle,
            const std::string& name = {});
  void error_bars(const std::vector<double>& x, const std::vector<double>& low, const std::vector<double>& high,
                  SeriesStyle);
  void level(double y, const std::string& name);  // a horizontal reference line
  void mark(double x, const std::string& name);   // a vertical one
  void hover(double x, const std::string& text);  // shown near x
  void include_y(double y) { ys_.push_back(y); }

  bool empty() const { return shapes_.empty(); }
  // Heading, legend and the drawing at two widths, of which the style sheet shows one. `half`: two stand side by side
  // where there is room.
  std::string html(bool half = false) const;

 private:
  struct Shape {
    enum class Kind { line, dots, area, bars } kind;
    SeriesStyle style;
    Points points;  // of bars: low and high in turn
  };
  struct Named {
    std::string swatch, name;
  };
  std::string svg(double width, double height, const char* which) const;
  void see(const Points&);
  void name_it(const char* kind, SeriesStyle, const std::string& name);

  Spec spec_;
  std::vector<Shape> shapes_;
  std::vector<Named> legend_;
  std::vector<double> xs_, ys_, levels_, marks_;
  std::vector<std::pair<double, std::string>> hovers_;
};

// A figure: charts, a sentence under them, and the numbers as a file.
std::string figure(const std::string& charts, const std::string& caption_html, const std::string& file,
                   const std::string& csv);
}  // namespace mckean::report
