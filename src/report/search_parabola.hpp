// The samples of a search's last round around the parabola that standard errors come from.
#pragma once

#include "report/sections.hpp"

namespace mckean::report {

// A figure, or why there is none.
std::string parabola_figure(const Context&);
}  // namespace mckean::report
