// Blocks of the state. Components that meet neither in a drift, a diffusion nor an observation, only through averages
// over the law, are independent given the law: each block is filtered by itself, and equal blocks have one law.
//
// Component i is joined to every j that occurs unprimed in its drift or diffusion (interactions written out), to every
// j with which it shares a scalar observation, and where (σσᵀ)_ij is not identically 0.
#pragma once

#include "mckean/model.hpp"

namespace mckean {

struct Block {
  std::vector<std::size_t> components;  // of the state, in order
  std::vector<std::size_t> columns;     // observed columns that read them
  std::size_t kind = 0;                 // equal for blocks of one law
  std::size_t view = 0;                 // equal for those that are also observed alike
};

// Blocks with equal formulas, constants and starts, up to the names of their components.
struct BlockKind {
  std::vector<Expr> x;  // symbols of its components
  std::vector<double> start, start_sd;
  std::vector<Expr> drift;                   // of x, t, the parameters and averages
  std::vector<std::vector<Expr>> diffusion;  // rows; the sources that the block feels
};

struct BlockView {
  std::size_t kind;
  std::vector<ObservedColumn> columns;  // in the symbols of the kind
};

// Over the law of a kind: of ψ(x), a number, or of ξ(x, x') over x', a function of the point x of the kind that reads
// it.
struct KindAverage {
  std::size_t kind;
  Expr of;
  Expr symbol;
};

struct Blocks {
  explicit Blocks(const Model&);

  Model model;  // a copy, in whose graph all expressions are
  std::vector<Block> all;
  std::vector<BlockKind> kinds;
  std::vector<BlockView> views;
  std::vector<KindAverage> moments, pairwise;  // that the drifts of the kinds read
  // An interaction whose average over several blocks does not split into averages over each; empty: there is none.
  std::string joint;

  const Block& largest() const;
};
}  // namespace mckean
