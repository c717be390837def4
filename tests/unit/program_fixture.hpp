// Runs block programs and their scalar twins on the same inputs.
#pragma once

#include <gtest/gtest.h>

#include <limits>

#include "kernel_columns.hpp"
#include "program/program.hpp"
#include "random_expression.hpp"

namespace mckean::test {

struct Inputs {
  std::vector<double> fixed, uniforms;
  std::vector<Values> columns;
};

struct Results {
  std::vector<Values> outputs;
  std::vector<double> sums;
};

// Columns are padded with NaN: what lies beyond the last particle must not matter.
inline Results run(Frame& frame, const Program& program, const Inputs& in, std::size_t n) {
  const std::size_t padded = (n + kLanes - 1) / kLanes * kLanes;
  std::vector<Values> columns = in.columns;
  std::vector<const double*> from;
  for (Values& c : columns) {
    std::fill(c.begin() + static_cast<std::ptrdiff_t>(n), c.end(), std::numeric_limits<double>::quiet_NaN());
    from.push_back(c.data());
  }
  Results out;
  std::vector<double*> to;
  out.outputs.resize(program.outputs(), Values(padded + kLanes, -7));
  for (Values& o : out.outputs) to.push_back(o.data());
  frame.set_fixed(in.fixed);
  frame.set_uniforms(in.uniforms);
  frame.clear_sums();
  frame.run(from, to, n);
  for (const Values& o : out.outputs)
    for (std::size_t i = padded; i < o.size(); ++i) EXPECT_EQ(o[i], -7) << "written past the end";
  for (std::size_t i = 0; i < program.sums(); ++i) out.sums.push_back(frame.sum(i));
  return out;
}

inline Results run(const ProgramSpec& spec, Width w, const Inputs& in, std::size_t n) {
  const Program program(spec);
  Frame frame(program, kernels(w));
  return run(frame, program, in, n);
}

// Seven symbols: two fixed, two uniform, three columns.
class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() {
    for (int i = 0; i < 2; ++i) spec.fixed.push_back(g.symbol({Kind::parameter, "p", i}));
    for (int i = 0; i < 2; ++i) spec.uniforms.push_back(g.symbol({Kind::uniform, "u", i}));
    for (int i = 0; i < 3; ++i) spec.columns.push_back(g.symbol({Kind::state, "x", i}));
    for (const auto* list : {&spec.fixed, &spec.uniforms, &spec.columns})
      symbols.insert(symbols.end(), list->begin(), list->end());
    x = spec.columns[0], y = spec.columns[1], z = spec.columns[2];
    p = spec.fixed[0], q = spec.fixed[1], u = spec.uniforms[0], v = spec.uniforms[1];
  }

  Inputs inputs(RandomTrees& random, double low, double high) const {
    const std::vector<double> first = random.values(low, high);
    Inputs in{{first[0], first[1]}, {first[2], first[3]}, std::vector<Values>(3, Values(kBlock))};
    for (std::size_t i = 0; i < kBlock; ++i) {
      const std::vector<double> more = random.values(low, high);
      for (std::size_t c = 0; c < 3; ++c) in.columns[c][i] = more[4 + c];
    }
    return in;
  }

  static std::vector<double> point(const Inputs& in, std::size_t i) {
    return {in.fixed[0],      in.fixed[1],      in.uniforms[0],  in.uniforms[1],
            in.columns[0][i], in.columns[1][i], in.columns[2][i]};
  }

  double scalar(Expr e, const Inputs& in, std::size_t i) const {
    std::unordered_map<std::uint32_t, double> at;
    const std::vector<double> values = point(in, i);
    for (std::size_t k = 0; k < symbols.size(); ++k) at[symbols[k].id()] = values[k];
    return evaluate(e, at);
  }

  // All results of the spec against scalar evaluation. Vector functions are within a few units in the last place and
  // no expression of these tests amplifies that by more than a hundred: 1e-13 relative to the largest value.
  void expect_scalar(std::size_t n = 21) {
    RandomTrees random(5, symbols.size());
    const Inputs in = inputs(random, 0.2, 1.7);
    for (const Width w : supported_widths()) {
      const Results got = run(spec, w, in, n);
      for (std::size_t k = 0; k < spec.outputs.size(); ++k)
        for (std::size_t i = 0; i < n; ++i) {
          const double want = scalar(spec.outputs[k], in, i);
          EXPECT_NEAR(got.outputs[k][i], want, 1e-13 * std::max(1.0, std::abs(want))) << to_text(spec.outputs[k]);
        }
      for (std::size_t k = 0; k < spec.sums.size(); ++k) {
        double want = 0, size = 1;
        for (std::size_t i = 0; i < n; ++i) want += scalar(spec.sums[k], in, i), size += std::abs(want);
        EXPECT_NEAR(got.sums[k], want, 1e-13 * size) << "sum of " << to_text(spec.sums[k]);
      }
    }
  }

  Graph g;
  ProgramSpec spec;
  std::vector<Expr> symbols;
  Expr x, y, z, p, q, u, v;
};
}  // namespace mckean::test
