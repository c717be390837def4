// Which components of a state belong together, which blocks are equal, and what they read of each other's laws.
#include "problem/blocks.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models.hpp"

namespace {

using namespace mckean;

Model block_model(const std::string& states, const std::string& rest) {
  return parse_model("[state]\n" + states + "\n[parameters]\na = 0.8\n" + rest, "blocks.toml");
}

std::vector<std::vector<std::size_t>> block_components(const Blocks& b) {
  std::vector<std::vector<std::size_t>> out;
  for (const Block& block : b.all) out.push_back(block.components);
  return out;
}

std::vector<std::size_t> block_kinds(const Blocks& b) {
  std::vector<std::size_t> out;
  for (const Block& block : b.all) out.push_back(block.kind);
  return out;
}

using BlockLists = std::vector<std::vector<std::size_t>>;
using BlockNumbers = std::vector<std::size_t>;

TEST(Blocks, NeuronsAreOneKindOfOneComponent) {
  const Blocks b(tests::shipped("neural", {{"d", 5}}));
  EXPECT_EQ(block_components(b), (BlockLists{{0}, {1}, {2}, {3}, {4}}));
  EXPECT_EQ(block_kinds(b), (BlockNumbers{0, 0, 0, 0, 0}));
  ASSERT_EQ(b.kinds.size(), 1);
  ASSERT_EQ(b.moments.size(), 1);
  EXPECT_EQ(b.moments[0].of, sigmoid(b.kinds[0].x[0]));
  EXPECT_TRUE(b.pairwise.empty());
  EXPECT_TRUE(b.joint.empty());
  ASSERT_EQ(b.views.size(), 1);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(b.all[i].columns, BlockNumbers{i});
  // The mean over five equal components is one average.
  std::unordered_map<std::uint32_t, double> at{{b.kinds[0].x[0].id(), 0.7}, {b.moments[0].symbol.id(), 0.6}};
  for (std::size_t p = 0; p < 2; ++p) at[b.model.parameter_symbols()[p].id()] = p == 0 ? 0.5 : 0.35;
  EXPECT_NEAR(evaluate(b.kinds[0].drift[0], at), 0.5 * (0.6 - 1 / (1 + std::exp(-0.7))) - 0.35 * 0.7, 1e-15);
}

TEST(Blocks, DifferentConstantsOrStartsMakeDifferentKinds) {
  const char* rest =
      "[constants]\nc = [1.0, 2.0, 1.0, 1.0]\n[interaction]\nm = \"mean(x')\"\n[drift]\nx = \"a*m - c*x\"\n"
      "[diffusion]\nx = 0.3\n[observation]\ny = \"normal(x, 0.5)\"\n";
  EXPECT_EQ(block_kinds(Blocks(block_model("x = { size = 4, start = 0.5 }", rest))), (BlockNumbers{0, 1, 0, 0}));
  EXPECT_EQ(block_kinds(Blocks(block_model("x = { size = 4, start = [0.5, 0.5, 0.1, 0.5] }", rest))),
            (BlockNumbers{0, 1, 2, 0}));
}

// x and y read each other's mean, u and v their own: the same formulas with other averages, until kinds are known.
TEST(Blocks, KindsAreToldApartByTheLawsThatTheyRead) {
  const std::string rest =
      "[interaction]\nmx = \"x'\"\nmy = \"y'\"\nmu = \"u'\"\nmv = \"v'\"\n[drift]\nx = \"a*(my - x)\"\n"
      "y = \"a*(mx - y)\"\nu = \"a*(mu - u)\"\nv = \"a*(mx - v) + DRIFT\"\n[diffusion]\nx = 1\ny = 1\nu = 1\nv = 1\n"
      "[observation]\nz = \"normal(x, 1)\"\n";
  const auto with = [&](const std::string& drift) {
    return block_model("x = 0\ny = 0\nu = 0\nv = 0", std::string(rest).replace(rest.find("DRIFT"), 5, drift));
  };
  EXPECT_EQ(block_kinds(Blocks(with("0"))), (BlockNumbers{0, 0, 0, 0}));
  EXPECT_EQ(block_kinds(Blocks(with("1"))), (BlockNumbers{0, 0, 0, 1}));
  std::string reading = rest;  // u reads v, which starts elsewhere
  reading.replace(reading.find("mu - u"), 6, "mv - u");
  reading.replace(reading.find("DRIFT"), 5, "0");
  EXPECT_EQ(block_kinds(Blocks(block_model("x = 0\ny = 0\nu = 0\nv = 1", reading))), (BlockNumbers{0, 0, 1, 2}));
}

constexpr const char* kApart = "[drift]\nx = \"-a*x\"\nv = \"-v\"\n";

TEST(Blocks, AnObservationOfTwoComponentsJoinsThem) {
  const auto blocks = [](const std::string& observation) {
    return block_components(Blocks(block_model(
        "x = 0\nv = 0", std::string(kApart) + "[diffusion]\nx = 1\nv = 1\n" + "[observation]\n" + observation)));
  };
  EXPECT_EQ(blocks("y = \"normal(x, 1)\"\nz = \"normal(v, 1)\"\n"), (BlockLists{{0}, {1}}));
  EXPECT_EQ(blocks("y = \"normal(x + v, 1)\"\n"), (BlockLists{{0, 1}}));
}

TEST(Blocks, CorrelatedNoiseJoins) {
  const auto blocks = [](const std::string& diffusion) {
    return block_components(Blocks(block_model(
        "x = 0\nv = 0", std::string(kApart) + "[diffusion]\n" + diffusion + "[observation]\ny = \"normal(x, 1)\"\n")));
  };
  EXPECT_EQ(blocks("x = [\"0.3\", \"0.4\"]\nv = [\"0\", \"0.4\"]\n"), (BlockLists{{0, 1}}));
  EXPECT_EQ(blocks("x = [\"0.3\", \"0.4\"]\nv = [\"0.4\", \"-0.3\"]\n"), (BlockLists{{0}, {1}}));
}

TEST(Blocks, APositionIsJoinedToItsVelocity) {
  const auto blocks = [](const std::string& drift) {
    return block_components(Blocks(block_model(
        "x = 0\nv = 0\nu = 0", "[interaction]\npull = \"tanh(u - x')\"\n[drift]\nx = \"v\"\nv = \"-a*v\"\n" + drift +
                                   "[diffusion]\nx = 0\nv = 1\nu = 1\n[observation]\ny = \"normal(x, 1)\"\n")));
  };
  EXPECT_EQ(blocks("u = \"-u\"\n"), (BlockLists{{0, 1}, {2}}));
  EXPECT_EQ(blocks("u = \"-u + pull\"\n"), (BlockLists{{0, 1}, {2}}));  // x only primed
  EXPECT_EQ(blocks("u = \"-u + sin(x)\"\n"), (BlockLists{{0, 1, 2}}));
}

// What is averaged over several blocks.
Blocks two_with(const std::string& kernel) {
  return Blocks(block_model("x = 0\nv = 1", "[interaction]\nk = \"" + kernel +
                                                "\"\n[drift]\nx = \"k - a*x\"\nv = \"-v\"\n" +
                                                "[diffusion]\nx = 1\nv = 1\n[observation]\ny = \"normal(x, 1)\"\n"));
}

// The drift of x at x = 0.3 where the law of x is at p and that of v at q.
double drift_at(const Blocks& b, double p, double q) {
  std::unordered_map<std::uint32_t, double> at{{b.kinds[0].x[0].id(), 0.3}, {b.model.parameter_symbols()[0].id(), 0.8}};
  for (const auto* list : {&b.moments, &b.pairwise})
    for (const KindAverage& m : *list) {
      std::unordered_map<std::uint32_t, double> point = at;
      const Expr x = b.kinds[m.kind].x[0];
      point[(m.of.has(Kind::other_state) ? other(x) : x).id()] = m.kind == 0 ? p : q;
      at[m.symbol.id()] = evaluate(m.of, point);
    }
  return evaluate(b.kinds[0].drift[0], at) + 0.8 * 0.3;
}

TEST(Blocks, AveragesOverSeveralBlocksAreProducts) {
  const double x = 0.3, p = 0.4, q = 0.9;
  const auto expect = [&](const std::string& kernel, double value, std::size_t moments, std::size_t pairwise) {
    SCOPED_TRACE(kernel);
    const Blocks b = two_with(kernel);
    EXPECT_TRUE(b.joint.empty());
    EXPECT_EQ(b.moments.size(), moments);
    EXPECT_EQ(b.pairwise.size(), pairwise);
    EXPECT_NEAR(drift_at(b, p, q), value, 1e-14);
    for (const KindAverage& m : b.moments) EXPECT_FALSE(m.of.has(Kind::other_state));
  };
  expect("x'*v'^2", p * q * q, 2, 0);
  expect("(x' - v')^2", (p - q) * (p - q), 4, 0);
  expect("cos(x' + 2*v') - exp(-x' - v')", std::cos(p + 2 * q) - std::exp(-p - q), 6, 0);
  expect("x*v'/(1 + x'^2)", x * q / (1 + p * p), 2, 0);
  expect("tanh(x - v')", std::tanh(x - q), 0, 1);
  expect("tanh(x - v') + x'*tanh(x*v')", std::tanh(x - q) + p * std::tanh(x * q), 1, 2);
}

TEST(Blocks, AveragesOverTheJointLawAreNamed) {
  EXPECT_EQ(two_with("tanh(x' + v')").joint, "k");
  EXPECT_EQ(two_with("tanh(x - x'*v')").joint, "k");
}

TEST(Blocks, ManyNeuronsAreFound) {
  const Blocks b(tests::shipped("neural", {{"d", 100}}));
  EXPECT_EQ(b.all.size(), 100);
  EXPECT_EQ(b.kinds.size(), 1);
  EXPECT_EQ(b.views.size(), 1);
  EXPECT_EQ(b.moments.size(), 1);
}
}  // namespace
