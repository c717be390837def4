// Block programs against scalar evaluation of the same expressions, at every vector width.
#include "program_fixture.hpp"

namespace mckean::test {
namespace {

constexpr std::size_t kCounts[] = {1, 7, 8, 9, 127, 128, 129, kBlock};

TEST_F(ProgramTest, RandomProgramsMatchScalarEvaluationAtEveryWidth) {
  RandomTrees random(41, symbols.size());
  long tested = 0, sharp = 0, sums = 0;
  for (std::size_t batch = 0; batch < 400; ++batch) {
    const std::size_t n = kCounts[batch % std::size(kCounts)];
    const Inputs in = inputs(random, batch % 3 ? 0.2 : -1.5, 1.5);
    std::vector<Tree> trees;
    for (int k = 0; k < 5; ++k) trees.push_back(random(1 + static_cast<int>(random.below(5))));
    spec.outputs.clear(), spec.sums.clear();
    for (std::size_t k = 0; k < trees.size(); ++k) {
      if (k < 4) spec.outputs.push_back(build(g, trees[k], symbols));
      if (k > 1) spec.sums.push_back(build(g, trees[k], symbols));
    }
    std::vector<Results> got;
    for (const Width w : supported_widths()) got.push_back(run(spec, w, in, n));
    for (std::size_t k = 0; k < trees.size(); ++k) {
      Reference total{0, 0, true};
      for (std::size_t i = 0; i < n; ++i) {
        const Reference want = reference(trees[k], point(in, i), 4);
        total = {total.value + want.value, total.tolerance + want.tolerance + 1e-14 * std::abs(want.value),
                 total.usable && want.usable};
        if (!want.usable || k == 4) continue;
        ++tested, sharp += well_conditioned(want);
        for (const Results& r : got)
          ASSERT_NEAR(r.outputs[k][i], want.value, want.tolerance) << to_text(spec.outputs[k]);
      }
      if (k < 2 || !total.usable) continue;
      ++sums;
      for (const Results& r : got)
        ASSERT_NEAR(r.sums[k - 2], total.value, total.tolerance) << to_text(spec.sums[k - 2]);
    }
  }
  EXPECT_GT(tested, 60000);
  EXPECT_GT(sharp, 40000);  // held to better than 1e-12
  EXPECT_GT(sums, 400);
}

TEST_F(ProgramTest, FusedWidthsGiveTheSameBits) {
  if (!supported(Width::avx512)) GTEST_SKIP();
  RandomTrees random(43, symbols.size());
  for (std::size_t batch = 0; batch < 300; ++batch) {
    const std::size_t n = kCounts[batch % std::size(kCounts)];
    const Inputs in = inputs(random, -2, 2);
    spec.outputs.clear(), spec.sums.clear();
    for (int k = 0; k < 6; ++k) spec.outputs.push_back(build(g, random(5), symbols));
    for (int k = 0; k < 3; ++k) spec.sums.push_back(build(g, random(4), symbols));
    const Results a = run(spec, Width::avx2, in, n), b = run(spec, Width::avx512, in, n);
    for (std::size_t k = 0; k < a.outputs.size(); ++k)
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_TRUE(same_bits(a.outputs[k][i], b.outputs[k][i])) << to_text(spec.outputs[k]);
    for (std::size_t k = 0; k < a.sums.size(); ++k)
      ASSERT_TRUE(same_bits(a.sums[k], b.sums[k])) << to_text(spec.sums[k]);
  }
}

TEST_F(ProgramTest, ResultsMayBeInputsNumbersOrEachOther) {
  spec.outputs = {x, x, u, p, g.number(3), x + y, x + y, exp(p), exp(u), x};
  spec.sums = {x, u, p, g.number(2), x + y, x + y, exp(p), exp(u), z};
  expect_scalar();
}

TEST_F(ProgramTest, ResultsMayBePartsOfOtherResults) {
  const Expr a = x * y + p, b = sin(a) + a * z, c = b * b - a;
  spec.outputs = {c, a, b, x * y};
  spec.sums = {a, pow(b, 2), c + x * y, a};
  expect_scalar();
  spec.outputs = {};
  expect_scalar();
  spec.sums = {};
  spec.outputs = {b};
  expect_scalar();
}

TEST_F(ProgramTest, NumbersThatAreNotFiniteStayApart) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  spec.outputs = {x + 2.0, x + nan, x + inf, x + 3.0, x - inf, x * 2.0};
  RandomTrees random(6, symbols.size());
  const Results got = run(spec, Width::plain, inputs(random, 0.2, 1.7), 8);
  EXPECT_TRUE(std::isnan(got.outputs[1][0]));
  EXPECT_EQ(got.outputs[2][0], inf);
  EXPECT_EQ(got.outputs[4][0], -inf);
  EXPECT_EQ(got.outputs[3][0] - got.outputs[0][0], 1);
}

TEST_F(ProgramTest, NothingToDo) {
  const Program empty(ProgramSpec{});
  Frame frame(empty);
  frame.run({}, {}, 5);
  const Program idle({spec.fixed, spec.uniforms, spec.columns, {}, {}});
  EXPECT_EQ(idle.instructions(), 0u);
}

TEST_F(ProgramTest, SineAndCosineOfOneArgumentAreMerged) {
  for (const bool sine_first : {true, false})
    for (const Expr a : {x * y, x, u * p, u, p * q, x + u}) {
      const Expr first = sine_first ? sin(a) : cos(a), second = sine_first ? cos(a) : sin(a);
      spec.sums = {};
      for (const auto& outputs : std::vector<std::vector<Expr>>{{first, second},
                                                                {second, first},
                                                                {first * second},
                                                                {x * first + y * second},
                                                                {first, z * second + first},
                                                                {second / (2.0 + first)},
                                                                {first}}) {
        spec.outputs = outputs;
        expect_scalar();
      }
      spec.outputs = {first};
      spec.sums = {second, first * second};
      expect_scalar();
    }
  spec.outputs = {sin(x), cos(x)}, spec.sums = {};
  EXPECT_EQ(Program(spec).instructions(), 1u);
}

TEST_F(ProgramTest, FunctionsCostMoreThanSums) {
  spec.outputs = {x * y}, spec.sums = {};
  EXPECT_EQ(Program(spec).cost(), 1);
  spec.outputs = {x + y - z};  // one instruction
  EXPECT_EQ(Program(spec).cost(), 3);
  spec.outputs = {exp(x)};
  EXPECT_EQ(Program(spec).cost(), 8);
}

TEST_F(ProgramTest, LinearCombinationsOfEveryLength) {
  for (std::size_t terms = 1; terms <= 4 * kMostTerms + 1; ++terms)
    for (const bool constant : {false, true})
      for (const bool products : {false, true}) {
        Expr e = constant ? exp(u) * p : g.number(0);
        for (std::size_t k = 0; k < terms; ++k) {
          const double c = 0.3 + 0.1 * static_cast<double>(k);
          const Expr column = sin(c * spec.columns[k % 3] + static_cast<double>(k));
          const Expr term = k % 4 == 3 ? column : (k % 2 ? u : p + c) * column;
          e = k % 3 == 1 ? e - term : e + term;
          if (products && k % 5 == 0) e = e - x * column;
        }
        spec.outputs = {e}, spec.sums = {e};
        expect_scalar(13);
      }
}

TEST_F(ProgramTest, SumsTakenApartKeepTheirSigns) {
  spec.outputs = {
      u - x,           p - u - x,          (u - x) - (y - v),     -(x * y) - z,          u - x * y - z * x,
      -(x * u) - y,    x * y - z * u,      pow(x, 2) - pow(y, 2), 1.0 - pow(x, 2),       -pow(x, 2) - pow(y, 2),
      (x - y) * p - q, x / u - y / p,      u / x - v / y,         x - (y - (z - u)),     (x - u) - (p - (y - v)),
      u - (v - x),     -(u - (x + y + z)), x * y * z - u * v,     (u - p * x) * (v - y), x - u + y - v + z - p,
  };
  spec.sums = {spec.outputs[3], spec.outputs[14], spec.outputs[19]};
  expect_scalar();
}

TEST_F(ProgramTest, IntegerPowersAndQuotients) {
  for (int n : {-64, -17, -7, -3, -2, -1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 63, 64, 65, -65}) {
    // The k-th power by squaring has a relative error of about k/2 roundings; those above 64 go to pow.
    spec.outputs = {pow(0.5 + 0.5 * x, n), pow(u, n) * x, pow(p, n) + x, 1.0 / pow(1.0 + x, 2)};
    spec.sums = {pow(x / 2.0 + 0.6, n)};
    expect_scalar();
  }
  spec.sums = {};
  spec.outputs = {x / p, x / u, u / p, p / u, x / y, p / x, (x / p) * (y / p), pow(x, 1.5), pow(x, u), pow(u, x)};
  expect_scalar();
}

TEST_F(ProgramTest, UniformsAndParametersChangeBetweenRuns) {
  spec.outputs = {exp(p) * x + sin(u) * y - cos(u + p) * z, u * p + x};
  spec.sums = {x * exp(u), u, p * u};
  const Program program(spec);
  RandomTrees random(3, symbols.size());
  for (const Width w : supported_widths()) {
    Frame frame(program, kernels(w));
    for (int round = 0; round < 5; ++round) {
      Inputs in = inputs(random, -1, 1);
      for (int again = 0; again < 2; ++again) {
        const Results got = run(frame, program, in, 30);
        double sum = 0;
        for (std::size_t i = 0; i < 30; ++i) {
          EXPECT_NEAR(got.outputs[0][i], scalar(spec.outputs[0], in, i), 1e-14);
          EXPECT_NEAR(got.outputs[1][i], scalar(spec.outputs[1], in, i), 1e-14);
          sum += scalar(spec.sums[0], in, i);
        }
        EXPECT_NEAR(got.sums[0], sum, 1e-13);
        EXPECT_NEAR(got.sums[1], 30 * in.uniforms[0], 1e-13);
        EXPECT_NEAR(got.sums[2], 30 * in.uniforms[0] * in.fixed[0], 1e-13);
        in.uniforms[0] += 0.25;
      }
    }
  }
}

// Sums run on over blocks, and two frames of one program know nothing of each other.
TEST_F(ProgramTest, FramesAreIndependentAndSumsAccumulate) {
  spec.outputs = {u * x + p}, spec.sums = {x * u};
  const Program program(spec);
  Frame a(program), b(program);
  RandomTrees random(4, symbols.size());
  const Inputs one = inputs(random, -1, 1), two = inputs(random, -1, 1);
  a.set_fixed(one.fixed), b.set_fixed(two.fixed);
  a.set_uniforms(one.uniforms), b.set_uniforms(two.uniforms);
  a.clear_sums(), b.clear_sums();
  double want_a = 0, want_b = 0;
  Values out_a(kBlock), out_b(kBlock);
  for (const std::size_t n : {std::size_t{5}, kBlock, std::size_t{9}}) {
    const double* in_a[] = {one.columns[0].data(), one.columns[1].data(), one.columns[2].data()};
    const double* in_b[] = {two.columns[0].data(), two.columns[1].data(), two.columns[2].data()};
    double *to_a = out_a.data(), *to_b = out_b.data();
    a.run(in_a, std::span(&to_a, 1), n);
    b.run(in_b, std::span(&to_b, 1), n);
    for (std::size_t i = 0; i < n; ++i) {
      want_a += scalar(spec.sums[0], one, i), want_b += scalar(spec.sums[0], two, i);
      ASSERT_NEAR(out_a[i], scalar(spec.outputs[0], one, i), 1e-15);
      ASSERT_NEAR(out_b[i], scalar(spec.outputs[0], two, i), 1e-15);
    }
    EXPECT_NEAR(a.sum(0), want_a, 1e-13);
    EXPECT_NEAR(b.sum(0), want_b, 1e-13);
  }
}

// What does not depend on the particle costs nothing per particle.
TEST_F(ProgramTest, HoistsSharesAndFuses) {
  const auto cost = [&](std::vector<Expr> outputs) {
    spec.outputs = std::move(outputs), spec.sums = {};
    return Program(spec).instructions();
  };
  EXPECT_EQ(cost({x + exp(p) * sin(u) / v}), 1u);
  EXPECT_EQ(cost({x * y + z}), 1u);
  EXPECT_EQ(cost({x + u * y + v * z + p}), 1u);
  EXPECT_EQ(cost({exp(x) + y, exp(x) - y}), 3u);
  EXPECT_EQ(cost({x / u}), 1u);
}

TEST_F(ProgramTest, MissingInputsAreRefused) {
  spec.outputs = {x + g.parameter("unknown")};
  EXPECT_THROW(Program{spec}, std::logic_error);
  spec.outputs = {x};
  spec.columns.push_back(x + y);
  EXPECT_THROW(Program{spec}, std::logic_error);
}
}  // namespace
}  // namespace mckean::test
