// Any bytes are either a model that keeps the promises of model.hpp, or an InputError.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "mckean/error.hpp"
#include "mckean/model.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const mckean::Model& model) {
  require(model.dimension() > 0 && !model.observed().empty() && model.noise_sources() > 0);
  require(model.columns().size() == model.observed().size());
  for (const mckean::Parameter& p : model.parameters()) require(std::isfinite(p.start) && p.admits(p.start));
  for (const mckean::Component& c : model.components()) {
    require(std::isfinite(c.start) && std::isfinite(c.start_sd) && c.start_sd >= 0);
    require(c.diffusion.size() == model.noise_sources());
    require(!c.drift.has(mckean::Kind::other_state | mckean::Kind::observed | mckean::Kind::constant));
  }
  // What `mckean check` prints.
  for (const auto& [name, e] : model.spec().drifts) require(!to_text(e).empty());
  for (const mckean::Interaction& i : model.interactions()) require(!to_text(i.kernel).empty());
  for (const mckean::ObservedColumn& y : model.observed()) require(!to_text(y.log_density).empty());
}

// "f.toml: …" or "f.toml:LINE:COLUMN: …", perhaps the line and a caret below.
void check(std::string_view message) {
  require(message.starts_with("f.toml:"));
  for (const char c : message) require(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    check(mckean::parse_model({reinterpret_cast<const char*>(bytes), size}, "f.toml"));
  } catch (const mckean::InputError& error) {
    check(std::string_view(error.what()));
  }
  return 0;
}
