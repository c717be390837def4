// A linear model with normal noise, as the coefficients that a Kalman filter reads.
//
//   dx = (A x + B m + c) dt + σ dW,   Q = σσᵀ,   y_j ~ normal(H_j x + h_j, √v_j)
//
// m is the mean of the law, P its covariance: the law of a linear model with a normal start is normal, so averages of
// interactions of degree up to two in x' are known functions of m and P,
//   E ξ(x, X') = ξ(x, m) + ½ Σ_ij ∂²ξ/∂x'_i∂x'_j P_ij.
#pragma once

#include <optional>
#include <string>

#include "engine/kalman/jet_matrix.hpp"
#include "mckean/model.hpp"
#include "program/program.hpp"

namespace mckean {

struct Coefficients {
  JetMatrix A, B, c, Q, H, h, v;  // v: a column of variances
};

class LinearFormulas {
 public:
  // Why a model is none; none where it is one.
  static std::optional<std::string> refuses(const Model&);

  LinearFormulas(const Model&, bool derivatives);

  // Whether A, B, c, Q depend neither on time nor on the law. Elsewhere B is 0, and A and c are those at m and P.
  bool constant() const { return constant_; }
  bool reads_covariance() const { return covariance_; }  // of the law
  std::size_t parameters() const { return parameters_; }

  // One evaluation's working memory.
  class Reader {
   public:
    Reader(const LinearFormulas&, std::span<const double> theta);
    Coefficients at(double t, const JetMatrix& mean, const JetMatrix& covariance);

   private:
    const LinearFormulas& formulas_;
    Frame frame_;
    std::vector<double> uniforms_;
    AlignedBuffer memory_;
    std::vector<double*> outputs_;
  };

 private:
  // Where an output of the program, or a number, belongs.
  enum class Part { drift, pull, rest, noise, observe, offset, variance };  // A, B, c, Q, H, h, v
  struct Place {
    Part part;
    std::size_t entry;  // of the jet
    Eigen::Index row, column;
    double number;       // where it is one
    std::size_t output;  // else
    bool is_number;
  };

  std::size_t parameters_;
  Eigen::Index dimension_, observed_;
  bool constant_ = true, covariance_ = false;
  std::vector<Place> places_;
  Program program_;  // fixed: θ | uniforms: t, jets of m, jets of P | outputs: those that are no numbers
};
}  // namespace mckean
