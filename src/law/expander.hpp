// Chebyshev expansions of smooth kernels on the windows that the particles occupy.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "step/dynamics.hpp"

namespace mckean {

struct Range {
  double center, half;
  auto operator<=>(const Range&) const = default;
};

// Whether a law served. Else it is drawn again: with more terms, where a kernel was not represented to 1e-10 by so few;
// with wider windows, where a particle that reads it left the one on which the interaction is expanded.
enum class [[nodiscard]] LawStatus{good, rank_too_low, window_left};

// The range for particles between low and high: half-widths are powers of 2^(1/4) and centers multiples of an eighth of
// them, so that a range, once expanded, serves many steps.
Range window_for(double low, double high, double margin);

class Expander {
 public:
  Expander(const Dynamics&, const Kernels&);

  void set_parameters(std::span<const double> theta);

  // b_p = Σ_q C_pq m_q for every expansion, and its tangents, from the measured moments (and ∂moments, laid out
  // parameter by parameter). Exact moments are passed on, windows written as center and 1/half.
  // good, or rank_too_low.
  LawStatus inputs(std::span<const Range> windows, std::span<const double> moments, std::span<double> inputs,
                   std::span<double> tangents);

 private:
  using Matrix = std::vector<double>;  // rank x rank, row by row
  struct Key {
    std::size_t expansion;
    Range own, other;
    auto operator<=>(const Key&) const = default;
  };

  // Null where the rank is too low.
  const std::vector<Matrix>* coefficients(std::size_t expansion, Range own, Range other);
  std::vector<Matrix> expand(std::size_t expansion, Range own, Range other);
  std::vector<Matrix> sample(std::size_t expansion, std::span<const double> own, std::span<const double> other);
  bool accurate(std::size_t expansion, const Matrix& coefficients, Range own, Range other);
  bool is_difference(std::size_t expansion);

  const Dynamics& dynamics_;
  std::size_t rank_, parameters_;
  std::vector<Frame> frames_;
  std::vector<bool> difference_;  // kernels of x − x' alone: the center of the range does not matter
  std::vector<double> theta_, nodes_;
  Matrix transform_, back_;  // the discrete cosine transform and its transpose
  std::map<Key, std::vector<Matrix>> known_;
};
}  // namespace mckean
