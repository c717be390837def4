// How ancestors are drawn: one index for each level of a filter, from the weights of all levels.
#pragma once

#include "engine/particles/coupling.hpp"

namespace mckean {

class AncestorDraw {
 public:
  virtual ~AncestorDraw() = default;
  virtual std::size_t uniforms() const = 0;  // that one draw needs
  // Weights level by level, not normalised.
  virtual void set(std::span<const std::span<const double>> weights) = 0;
  virtual void draw(const double* u, std::span<std::uint32_t> index) const = 0;
};

// One level.
class SingleDraw : public AncestorDraw {
 public:
  std::size_t uniforms() const override { return 1; }
  void set(std::span<const std::span<const double>> weights) override { categorical_.set(weights[0]); }
  void draw(const double* u, std::span<std::uint32_t> index) const override { index[0] = categorical_.draw(u[0]); }

 private:
  Categorical categorical_;
};

// Two levels.
class CoupledDraw : public AncestorDraw {
 public:
  explicit CoupledDraw(std::unique_ptr<Coupling> coupling) : coupling_(std::move(coupling)) {}
  std::size_t uniforms() const override { return 3; }
  void set(std::span<const std::span<const double>> weights) override { coupling_->set(weights[0], weights[1]); }
  void draw(const double* u, std::span<std::uint32_t> index) const override {
    std::tie(index[0], index[1]) = coupling_->draw({u[0], u[1], u[2]});
  }

 private:
  std::unique_ptr<Coupling> coupling_;
};
}  // namespace mckean
