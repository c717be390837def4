// Random expressions as plain trees: the obvious twin of the graph, which simplifies and shares.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "expr/functions.hpp"
#include "mckean/expr.hpp"

namespace mckean::test {

struct Tree {
  Op op;
  double number = 0;
  std::size_t symbol = 0;  // index into a list of symbols
  std::vector<Tree> args{};
};

inline std::size_t arguments(Op op) { return op <= Op::polygamma ? 2 : op == Op::select ? 3 : 1; }

// All operations with values: Op::add to Op::lgamma.
class RandomTrees {
 public:
  RandomTrees(std::uint64_t seed, std::size_t symbols) : random_(seed), symbols_(symbols) {}

  Tree operator()(int depth) {
    if (depth == 0 || below(8) == 0) return leaf();
    const auto first = static_cast<std::size_t>(Op::add), last = static_cast<std::size_t>(Op::lgamma);
    // Half of all nodes are sums, products and the like, as in formulas that people write.
    const auto op = static_cast<Op>(below(2) ? first + below(5) : first + below(last - first + 1));
    Tree t{op};
    if (op == Op::polygamma) {
      t.args.push_back({Op::number, static_cast<double>(below(4))});
      t.args.push_back((*this)(depth - 1));
    } else if (op == Op::pow && below(4) > 0) {
      t.args.push_back((*this)(depth - 1));
      t.args.push_back(leaf_number());
    } else {
      for (std::size_t i = 0; i < arguments(op); ++i) t.args.push_back((*this)(depth - 1));
    }
    return t;
  }

  std::vector<double> values(double low, double high) {
    std::vector<double> v(symbols_);
    for (double& x : v) x = std::uniform_real_distribution<double>(low, high)(random_);
    return v;
  }

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

 private:
  Tree leaf() { return below(3) == 0 ? leaf_number() : Tree{Op::symbol, 0, below(symbols_)}; }
  Tree leaf_number() {
    static constexpr double kNumbers[] = {0, 1, -1, 2, 0.5, 3, -2, 1.7, -0.3};
    return {Op::number, kNumbers[below(std::size(kNumbers))]};
  }

  std::mt19937_64 random_;
  std::size_t symbols_;
};

inline Expr build(Graph& g, const Tree& t, std::span<const Expr> symbols) {
  if (t.op == Op::number) return g.number(t.number);
  if (t.op == Op::symbol) return symbols[t.symbol];
  Expr args[3];
  for (std::size_t i = 0; i < t.args.size(); ++i) args[i] = build(g, t.args[i], symbols);
  return g.make(t.op, args[0], args[1], args[2]);
}

// The value of a tree, and how far rounding may move it: `usable` where every part is finite, `tolerance` ten times
// the spread of the value when each operation's result (and each term of a sum, so that reordered sums are covered)
// is multiplied by 1 + δ, |δ| < 1e-14, about 45 units in the last place. Where a comparison sits on its edge the
// spread is as large as the jump, so no test of such a point can fail.
struct Reference {
  double value, tolerance;
  bool usable;
};

namespace detail {
struct Evaluation {
  std::span<const double> values;
  double noise;
  std::mt19937_64* random;
  bool finite = true;

  double perturbed(double v) {
    return noise == 0 ? v : v * (1 + noise * std::uniform_real_distribution<double>(-1, 1)(*random));
  }
  double operator()(const Tree& t) {
    if (t.op == Op::number) return t.number;
    if (t.op == Op::symbol) return values[t.symbol];
    double args[3] = {0, 0, 0};
    for (std::size_t i = 0; i < t.args.size(); ++i) args[i] = (*this)(t.args[i]);
    if (t.op == Op::add || t.op == Op::sub) args[0] = perturbed(args[0]), args[1] = perturbed(args[1]);
    const double v = apply(t.op, args[0], args[1], args[2]);
    finite = finite && std::isfinite(v);
    const bool exact = t.op >= Op::less && t.op <= Op::not_equal;
    return exact ? v : perturbed(v);
  }
};
}  // namespace detail

inline Reference reference(const Tree& t, std::span<const double> values, int samples = 8) {
  static constexpr double kNoise = 1e-14;
  std::mt19937_64 random(1);
  detail::Evaluation plain{values, 0, nullptr};
  Reference r{plain(t), 0, true};
  r.usable = plain.finite;
  for (int i = 0; i < samples && r.usable; ++i) {
    detail::Evaluation noisy{values, kNoise, &random};
    r.tolerance = std::max(r.tolerance, 10 * std::abs(noisy(t) - r.value));
    r.usable = noisy.finite;
  }
  r.tolerance += kNoise * std::abs(r.value);
  return r;
}

inline bool well_conditioned(const Reference& r) { return r.usable && r.tolerance <= 1e-12 * std::abs(r.value); }
}  // namespace mckean::test
