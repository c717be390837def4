// The model of the benchmarks.
#pragma once

namespace bench {

inline constexpr const char* kKuramoto = R"toml(
[state]
x = 1.5
[parameters]
theta = 0.4
[interaction]
pull = "sin(x - x')"
[drift]
x = "theta + pull"
[diffusion]
x = "0.15"
[observation]
y = "normal(x, 1)"
)toml";
}  // namespace bench
