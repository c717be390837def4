// The programs of a state in blocks of one component on grids: normal steps, averages over the law and observation
// densities, each with first and second derivatives in the parameters.
#pragma once

#include <optional>

#include "engine/quadrature/chart.hpp"
#include "mckean/scheme.hpp"
#include "program/program.hpp"

namespace mckean {

// Several numbers with jets are laid out entry by entry: all values, then all ∂_1, ...
// Fixed inputs of all programs: the parameters.

// Averages ξ of pairwise kernels over the law of one kind, felt at points of another.
struct PairFormulas {
  std::size_t over;     // the kind
  std::size_t kernels;  // their number
  // columns: x', jet of mass | uniforms: t, x | sums: jets of ξ
  Program pair;
  // Where all depend on d = x − x' alone. columns: d | uniforms: t | outputs: their jets
  std::optional<Program> difference;
  std::vector<bool> difference_is_zero;  // of each output
};

// One stage of a step, at points that are made of x and of the slopes of the stages before.
struct StageFormulas {
  // columns: x, jet of the law's mass, jets of earlier slopes | uniforms: t, flow | sums: jets of the kind's moments
  Program measure;
  // columns: x, jets of ξ, pairing by pairing, jets of earlier slopes | uniforms: t, flow, jets of all moments here
  // outputs: jet of the slope; in the last stage of the mean to which the step leads
  Program slope;
};

// Where formulas are written in z, see Chart: what x is.
struct PlaceFormulas {
  Program program;  // columns: z | outputs: x, dx/dz, d²x/dz²
  double lo, hi;    // of z: where the noise vanishes
  double start;     // x where z = 0
};

// Of one kind of block.
struct KindFormulas {
  double start = 0, start_sd = 0;  // the latter of x
  std::optional<PlaceFormulas> place;
  std::vector<StageFormulas> stages;
  // columns: x | uniforms: t, flow, √variance | outputs: standard deviation of the step
  Program noise;
  // Where the noise depends on the state: its size s(x) at t = 0. columns: x | outputs: s, ds/dx
  std::optional<Program> scale;
  std::vector<std::size_t> moments;  // of all, those over its law
  std::vector<PairFormulas> pairs;
  bool read = false;  // whether anything is averaged over its law
};

struct Formulas {
  // Of a model whose blocks have one component each, with noise; see `has_steps`. Splitting steps are those of z where
  // the noise depends on the state.
  Formulas(const Model&, bool derivatives, Scheme);

  // Inside, the "dynamic" parameters, which drift or interactions contain, come first: a law has derivatives in them
  // alone.
  std::vector<std::size_t> order;  // the model's index of each parameter; empty without derivatives
  std::size_t dynamic = 0;         // how many of them are dynamic
  std::size_t all() const { return order.size(); }

  Blocks blocks;
  std::vector<std::optional<Chart>> charts;  // by kind
  std::vector<KindFormulas> kinds;
  // columns: x, w | uniforms: mean, 1/sd | outputs: b = w exp(−z²/2)/sd, bz, b(z² − 1), z = (x − mean)/sd
  Program bell;
  // Of each view, of each of its columns. columns: x | uniforms: t, y | outputs: jet of log G, ∂²log G/∂z², dz = dx/s
  std::vector<std::vector<Program>> observe;
};

// Whether steps of a scheme can be written: splitting steps add noise where the flow has led, which depends on the
// parameters, as the standard deviations of these programs do not. So it must not depend on the state, or have a chart.
bool has_steps(const Blocks&, Scheme);
}  // namespace mckean
