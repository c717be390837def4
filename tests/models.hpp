// Models that several tests share, as text.
#pragma once

#include <string>

#include "mckean/model.hpp"

namespace mckean::tests {

inline Model shipped(const std::string& name, const Overrides& overrides = {}) {
  return read_model(std::string(MCKEAN_SOURCE_DIR) + "/models/" + name + ".toml", overrides);
}

inline const char* const kShipped[] = {"kuramoto",      "neural",          "mean-field-ou", "ou",
                                       "desai-zwanzig", "fitzhugh-nagumo", "cucker-smale"};

// dX = [a + theta ξ̄(X)] dt + 0.5 dW with an interaction of one's choice.
inline Model with_kernel(const std::string& kernel) {
  return parse_model(
      "[state]\nx = \"normal(0.3, 0.4)\"\n[parameters]\ntheta = 0.8\nell = 1.1\n[interaction]\nk = \"" + kernel +
          "\"\n[drift]\nx = \"0.2 - 0.5*x + theta*k\"\n[diffusion]\nx = 0.5\n[observation]\ny = \"normal(x, 0.5)\"\n",
      "kernel.toml");
}
}  // namespace mckean::tests
