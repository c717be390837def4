// Which models' filters can look ahead.
#pragma once

#include <optional>
#include <string>

#include "mckean/model.hpp"

namespace mckean {

// Why they cannot; none where they can.
std::optional<std::string> refuses_ahead(const Model&);
}  // namespace mckean
