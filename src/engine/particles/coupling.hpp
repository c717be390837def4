// Pairs of indices with given margins: how the ancestors of a fine and a coarse particle are drawn together.
#pragma once

#include <array>
#include <memory>
#include <utility>

#include "engine/particles/categorical.hpp"

namespace mckean {

class Coupling {
 public:
  virtual ~Coupling() = default;
  // Weights of the two margins, not normalised.
  virtual void set(std::span<const double> fine, std::span<const double> coarse) = 0;
  virtual std::pair<std::uint32_t, std::uint32_t> draw(const std::array<double, 3>& u) const = 0;
};

// With probability Σ min(r1, r2), the largest possible, one index from min(r1, r2) for both, else independently from
// the two residuals.
class MaximalCoupling : public Coupling {
 public:
  void set(std::span<const double> fine, std::span<const double> coarse) override;
  std::pair<std::uint32_t, std::uint32_t> draw(const std::array<double, 3>& u) const override;
  double meeting_probability() const { return common_mass_; }

 private:
  double common_mass_ = 0;
  Categorical common_, fine_, coarse_;
};

std::unique_ptr<Coupling> make_maximal_coupling();
}  // namespace mckean
