#include "engine/quadrature/convolution.hpp"

#include <cmath>
#include <unsupported/Eigen/FFT>

namespace mckean {
namespace {

constexpr double kLeastPairs = 1e4;  // below which sums are as fast

double fraction(const GridDensity& density, const GridDensity& law) { return std::round(law.step / density.step); }
}  // namespace

struct Convolution::Transform {
  Transform() { fft.SetFlag(Eigen::FFT<double>::HalfSpectrum); }
  Eigen::FFT<double> fft;
};

Convolution::Convolution(const PairFormulas& formulas, std::size_t parameters, std::span<const double> theta)
    : kernels_(formulas.kernels),
      parameters_(parameters),
      zero_(formulas.difference_is_zero),
      frame_(*formulas.difference),
      transform_(std::make_unique<Transform>()),
      mass_(jet_size(parameters_)),
      kernel_(jet_size(parameters_) * kernels_) {
  frame_.set_fixed(theta);
}
Convolution::Convolution(Convolution&&) noexcept = default;
Convolution::~Convolution() = default;

bool Convolution::serves(const GridDensity& density, const GridDensity& law) {
  if (static_cast<double>(density.points) * static_cast<double>(law.points) < kLeastPairs) return false;
  const double q = fraction(density, law);
  return density.jacobian.count() == 0 && law.jacobian.count() == 0 && q >= 1 &&
         std::abs(q * density.step - law.step) < 1e-13 * law.step;
}

void Convolution::read_law(const GridDensity& law, std::size_t length) {
  in_.assign(length, 0);
  for (std::size_t e = 0; e < mass_.size(); ++e) {
    std::copy_n(law.mass[e], law.points, in_.begin());
    transform_->fft.fwd(mass_[e], in_);
  }
}

// K at first + m step for m from −before to after.
void Convolution::read_kernel(double first, double step, std::size_t before, std::size_t after) {
  const std::size_t count = before + after + 1;
  Columns d(1, count), values(kernel_.size(), count);
  for (std::size_t i = 0; i < d.rows(); ++i)
    d[0][i] = first + (static_cast<double>(i) - static_cast<double>(before)) * step;
  std::vector<double*> out(kernel_.size());
  for (std::size_t at = 0; at < count; at += kBlock) {
    for (std::size_t c = 0; c < out.size(); ++c) out[c] = values[c] + at;
    frame_.run(std::array<const double*, 1>{d[0] + at}, out, std::min(kBlock, count - at));
  }
  for (std::size_t c = 0; c < kernel_.size(); ++c) {
    if (zero_[c]) continue;
    std::ranges::fill(in_, 0.0);
    std::copy_n(values[c] + before, after + 1, in_.begin());
    std::copy_n(values[c], before, in_.end() - static_cast<std::ptrdiff_t>(before));
    transform_->fft.fwd(kernel_[c], in_);
  }
}

// Entry (a, b) of the jet of K · mass.
Convolution::Spectrum Convolution::product(std::size_t kernel, std::size_t a, std::size_t b) const {
  Spectrum sum(mass_[0].size());
  const auto add = [&](std::size_t of_kernel, std::size_t of_mass) {
    const Spectrum &k = kernel_[of_kernel * kernels_ + kernel], &m = mass_[of_mass];
    for (std::size_t i = 0; i < k.size(); ++i) sum[i] += k[i] * m[i];
  };
  add(jet_index(a, b), 0);
  if (b > 0) add(0, jet_index(a, b));
  if (a > 0) add(jet_index(0, a), jet_index(0, b)), add(jet_index(0, b), jet_index(0, a));
  return sum;
}

Columns Convolution::sums(const GridDensity& density, const GridDensity& law, double t) {
  Columns out(kernel_.size(), density.points);
  const auto q = static_cast<std::size_t>(fraction(density, law));
  const std::size_t most = (density.points + q - 1) / q;
  std::size_t length = 4;
  while (length < most + law.points) length *= 2;
  read_law(law, length);
  frame_.set_uniforms(std::array{t});
  std::vector<double> back(length);
  for (std::size_t r = 0; r < q; ++r) {
    read_kernel(density.x[0][r] - law.x[0][0], law.step, law.points - 1, most - 1);
    for (std::size_t c = 0; c < kernels_; ++c)
      for_each_entry(parameters_, [&](std::size_t a, std::size_t b) {
        transform_->fft.inv(back, product(c, a, b), static_cast<Eigen::Index>(length));
        double* to = out[jet_index(a, b) * kernels_ + c];
        for (std::size_t i = r, m = 0; i < density.points; i += q, ++m) to[i] = back[m];
      });
  }
  return out;
}
}  // namespace mckean
