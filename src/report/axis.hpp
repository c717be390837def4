// An axis: from values to places, and the numbers that stand at it.
#pragma once

#include <string>
#include <vector>

namespace mckean::report {

// Linear, or logarithmic in base 10.
struct Axis {
  double low = 0, high = 1;
  bool log = false;
  bool whole = false;  // ticks at whole numbers only

  double place(double value) const;  // 0 at low, 1 at high
  bool shows(double value) const;    // finite, and positive where logarithmic
};

// What contains all values that an axis can show, with a little room at both ends; some interval where there is none.
Axis axis_around(const std::vector<double>& values, bool log);

struct Tick {
  double value;
  std::string label;
};

// Round numbers within the axis, at most `most` (at least 2) of them: steps of 1, 2 or 5 times a power of ten. Of a
// logarithmic axis the powers of ten, or 1, 2 and 5 times them.
std::vector<Tick> ticks(const Axis&, std::size_t most);

double text_width(const std::string&);  // of a label, in pixels, roughly and not too little
}  // namespace mckean::report
