// Kernels of x − x' by fast convolution, against the same kernel written so that it is summed.
#include <gtest/gtest.h>

#include "engine/quadrature/quadrature_engine.hpp"
#include "models.hpp"
#include "oracle/examples.hpp"

namespace {

using namespace mckean;

void expect_equal(const Model& fast, const Model& summed, const std::vector<double>& y, int level) {
  const Data data = oracle::unit_series(y);
  const std::vector<double> theta{0.8, 1.1};
  const QuadratureValue a = Quadrature({fast, data}, level).value(theta),
                        b = Quadrature({summed, data}, level).value(theta);
  EXPECT_NEAR(a.loglik, b.loglik, 1e-11);
  EXPECT_LT((a.gradient - b.gradient).norm(), 1e-10 * b.gradient.norm());
  EXPECT_LT((a.hessian - b.hessian).norm(), 1e-10 * b.hessian.norm());
  EXPECT_LT(a.pairs, b.pairs);
}

TEST(Convolution, EqualsTheSum) {
  const Model fast = tests::with_kernel("(x' - x)*exp(-((x - x')/ell)^2)");
  const Model summed = tests::with_kernel("(x' - x)*exp(-(x^2 - 2*x*x' + x'^2)/ell^2)");
  expect_equal(fast, summed, {0.4, -0.2, 0.7, 1.9}, 3);
  expect_equal(fast, summed, {0.4, oracle::missing, 0.1}, 5);
}

// Sharp observations make the filter's grid finer than the law's.
TEST(Convolution, GridsOfDifferentSteps) {
  const auto sharp = [](const std::string& kernel) {
    return parse_model("[state]\nx = 0.3\n[parameters]\ntheta = 0.8\nell = 1.1\n[interaction]\nk = \"" + kernel +
                           "\"\n[drift]\nx = \"theta*k + 0.1*sin(x)\"\n[diffusion]\nx = 0.5\n[observation]\ny = "
                           "\"normal(x, 0.02)\"\n",
                       "sharp.toml");
  };
  expect_equal(sharp("(x' - x)/(1 + ((x' - x)*ell)^4)"), sharp("(x' - x)/(1 + (x'^2 - 2*x*x' + x^2)^2*ell^4)"),
               {0.4, -0.2, 0.7, 0.1}, 4);
}

TEST(Convolution, KernelsThatAreNotSmoothAreRefused) {
  const Problem problem(tests::with_kernel("(x' - x)*(abs(x - x') < 0.5)"), oracle::unit_series({0.4}));
  ASSERT_TRUE(QuadratureEngine::refuses(problem));
  EXPECT_NE(QuadratureEngine::refuses(problem)->find("the interaction 'k' is not a smooth function"),
            std::string::npos);
}
}  // namespace
