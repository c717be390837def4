// How a diffusion is stepped from one grid point to the next.
#pragma once

namespace mckean {

// euler: the paper's step, the drift at x over Δ and noise of variance Δ, both from where the step begins.
// splitting: noise over Δ/2, the drift's flow over Δ by the classical Runge-Kutta method, noise over Δ/2, where σ is
// taken at the point to which the noise is added. Neighbouring noises between two observations are one.
enum class Scheme { euler, splitting };
const char* name_of(Scheme);

// 2^level steps of a scheme in each unit of time. A level alone means Euler's.
struct Steps {
  Steps(int l, Scheme s = Scheme::euler) : level(l), scheme(s) {}
  int level;
  Scheme scheme;
};
}  // namespace mckean
