// The matrix σ of a model, a row for each component.
#pragma once

#include <cstddef>
#include <vector>

#include "mckean/model.hpp"

namespace mckean {

// Whether component j alone feels source j.
bool is_diagonal(const std::vector<Component>&);

// Sources of noise that nothing feels are dropped; returns how many are left.
std::size_t drop_unfelt_sources(std::vector<Component>&);

// σ at the start must be finite, and its noisy rows independent. Throws SpecError.
void check_diffusion_at_start(const std::vector<Component>&, std::size_t sources, bool diagonal, Expr time);
}  // namespace mckean
