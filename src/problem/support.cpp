#include "problem/support.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mckean/error.hpp"
#include "model/density.hpp"

namespace mckean {

void check_support(const Model& model, const Data& data) {
  for (std::size_t s = 0; s < data.series.size(); ++s)
    for (std::size_t row = 0; row < data.series[s].times.size(); ++row)
      for (std::size_t c = 0; c < model.observed().size(); ++c) {
        const ObservedColumn& column = model.observed()[c];
        const double y = data.value(s, row, c);
        if (std::isnan(y) || column.distribution == Distribution::custom) continue;
        const auto& d = info(column.distribution);
        const bool bad = (d.support == DistributionInfo::count && (y < 0 || y != std::trunc(y))) ||
                         (d.support == DistributionInfo::positive && y <= 0);
        if (bad)
          throw InputError(fmt::format(
              "{}:{}: column '{}' is {}, but the model observes it as {}, whose values are {}; correct the value or "
              "the model",
              data.source, data.series[s].lines[row], column.name, y, d.name,
              d.support == DistributionInfo::count ? "whole numbers from 0" : "positive"));
      }
}
}  // namespace mckean
