#include "engine/quadrature/spread.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "engine/quadrature/spread_jets.hpp"

namespace mckean {
namespace {

constexpr std::size_t kStride = 8;

// Targets of the widest Gaussian, in whole strides.
std::size_t targets(double cut, double sd, double step) {
  return (static_cast<std::size_t>(2 * cut * sd / step) + 1 + kStride) / kStride * kStride;
}

// w_j = exp(−z_j²/2), z_j = z + jη, without an exponential for each: w_{j+8} = w_j r_j, r_{j+8} = r_j e^{−64η²} with
// r_j = exp(−8η z_j − 32η²). What depends on η alone is kept for the next point.
class Gaussian {
 public:
  explicit Gaussian(std::size_t most) : memory_(4 * most), most_(most) {}

  double* w() { return memory_.data(); }               // exp(−z²/2)
  double* w1() { return memory_.data() + most_; }      // z exp(−z²/2)
  double* w2() { return memory_.data() + 2 * most_; }  // (z² − 1) exp(−z²/2)

  [[gnu::always_inline]] void fill(double scale, double z, double eta, std::size_t count, bool slopes) {
    if (eta != eta_) prepare(eta);
    double* __restrict weight = w();
    double* __restrict ratio = memory_.data() + 3 * most_;
    double power = scale * std::exp(-0.5 * z * z);
    const double tilt = std::exp(-eta * z), square = tilt * tilt, fourth = square * square, eighth = fourth * fourth;
    for (std::size_t k = 0; k < kStride; ++k, power *= tilt) {
      weight[k] = power * bell_[k];
      ratio[k] = eighth * ratio_[k];
    }
    for (std::size_t j = 0; j + kStride < count; ++j) {
      weight[j + kStride] = weight[j] * ratio[j];
      ratio[j + kStride] = ratio[j] * shrink_;
    }
    if (!slopes) return;
    double* __restrict first = w1(), * __restrict second = w2();
    for (std::size_t j = 0; j < count; ++j) {
      const double at = z + static_cast<double>(static_cast<int>(j)) * eta;
      first[j] = weight[j] * at;
      second[j] = weight[j] * (at * at - 1);
    }
  }

 private:
  void prepare(double eta) {
    eta_ = eta;
    shrink_ = std::exp(-64 * eta * eta);
    for (std::size_t k = 0; k < kStride; ++k) {
      const double kk = static_cast<double>(k);
      bell_[k] = std::exp(-0.5 * kk * kk * eta * eta);
      ratio_[k] = std::exp(-(8 * kk + 32) * eta * eta);
    }
  }

  AlignedBuffer memory_;
  std::size_t most_;
  double eta_ = -1, shrink_ = 0;
  std::array<double, kStride> bell_{}, ratio_{};
};

[[gnu::always_inline]] inline void spread_all(const GridDensity& from, const Fields& fields, double cut,
                                              GridDensity& to) {
  const double* sd = fields.sd[0];
  Gaussian gaussian(targets(cut, *std::max_element(sd, sd + from.points), to.step));
  const JetPoint point(from, fields);
  for (std::size_t i = 0; i < from.points; ++i) {
    const double mean = fields.mean[0][i], inverse_sd = 1 / sd[i], eta = to.step * inverse_sd;
    const auto first = static_cast<std::size_t>(std::ceil((mean - cut * sd[i] - to.lo) / to.step));
    const std::size_t count = targets(cut, sd[i], to.step);
    // A Gaussian that falls between the points, which only a negligible one does, must not grow where it hits one.
    gaussian.fill(std::min(1.0, eta * (std::numbers::inv_sqrtpi / std::numbers::sqrt2)),
                  (to.lo + static_cast<double>(first) * to.step - mean) * inverse_sd, eta, count, from.parameters > 0);
    add_bell(point, i, inverse_sd, {gaussian.w(), gaussian.w1(), gaussian.w2(), first, count}, to);
  }
}

// The same code for each vector width. Products and sums are not fused, so that all give the same bits.
[[gnu::target("avx512f,avx512dq,avx512vl,avx512bw")]] void spread_avx512(const GridDensity& from, const Fields& fields,
                                                                         double cut, GridDensity& to) {
  spread_all(from, fields, cut, to);
}
[[gnu::target("avx2")]] void spread_avx2(const GridDensity& from, const Fields& fields, double cut, GridDensity& to) {
  spread_all(from, fields, cut, to);
}
}  // namespace

void spread(const GridDensity& from, const Fields& fields, double cut, GridDensity& to) {
  if (supported(Width::avx512)) return spread_avx512(from, fields, cut, to);
  if (supported(Width::avx2)) return spread_avx2(from, fields, cut, to);
  spread_all(from, fields, cut, to);
}

Reach reach(const GridDensity& from, const Fields& fields, double cut, double step) {
  double lo = fields.mean[0][0] - cut * fields.sd[0][0], hi = lo, targets = 0;
  for (std::size_t i = 0; i < from.points; ++i) {
    const double sd = fields.sd[0][i];
    lo = std::min(lo, fields.mean[0][i] - cut * sd);
    // The last stride may go beyond the cut.
    hi = std::max(hi, fields.mean[0][i] + cut * sd + static_cast<double>(kStride + 2) * step);
    targets += 2 * cut * sd / step;
  }
  return {lo, std::ceil((hi - lo) / step) + 2, targets};
}
}  // namespace mckean
