#include "cli/arguments.hpp"

#include <fmt/format.h>

#include "model/number.hpp"

namespace mckean::cli {

Overrides Arguments::overrides() const {
  Overrides values;
  for (const std::string& text : set) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw InputError(fmt::format("--set {}: name=value is expected, as in --set {}=1.5", text,
                                   equals == 0 || text.empty() ? "sigma" : text));
    const Number number = parse_number(std::string_view(text).substr(equals + 1));
    if (!number.problem.empty())
      throw InputError(fmt::format("--set {}: {}; give a finite number", text, number.problem));
    values.emplace_back(text.substr(0, equals), number.value);
  }
  return values;
}
}  // namespace mckean::cli
