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

// At any address. Vectors of 512 bits are taken apart through memory where there are no such registers.
using Four [[gnu::vector_size(32), gnu::aligned(8)]] = double;
constexpr std::size_t kFour = 4;

// w_j = exp(−z_j²/2), z_j = z + jη, eight at a time without an exponential for each: w_{j+8} = w_j r_j,
// r_{j+8} = r_j e^{−64η²} with r_j = exp(−8η z_j − 32η²). What depends on η alone is kept for the next point.
class Gaussian {
 public:
  struct Half {
    Four w, ratio, z;  // of four of the eight targets that it has come to
  };
  Half low, high;

  [[gnu::always_inline]] void begin(double scale, double first, double eta) {
    if (eta != eta_) prepare(eta);
    const double power = scale * std::exp(-0.5 * first * first), tilt = std::exp(-eta * first);
    const double t2 = tilt * tilt, t3 = t2 * tilt, t4 = t2 * t2;
    const Four powers{1, tilt, t2, t3}, more{t4, t4 * tilt, t4 * t2, t4 * t3};
    low = {power * (powers * low_.w), (t4 * t4) * low_.ratio, first + low_.z};
    high = {power * (more * high_.w), (t4 * t4) * high_.ratio, first + high_.z};
  }
  [[gnu::always_inline]] void advance() {
    for (Half* h : {&low, &high}) {
      h->w = h->w * h->ratio;
      h->ratio = h->ratio * shrink_;
      h->z = h->z + kStride * eta_;
    }
  }

 private:
  void prepare(double eta) {
    eta_ = eta;
    shrink_ = std::exp(-64 * eta * eta);
    for (std::size_t k = 0; k < kStride; ++k) {
      const double kk = static_cast<double>(k);
      Half& half = k < kFour ? low_ : high_;
      half.z[k % kFour] = kk * eta;
      half.w[k % kFour] = std::exp(-0.5 * kk * kk * eta * eta);
      half.ratio[k % kFour] = std::exp(-(8 * kk + 32) * eta * eta);
    }
  }

  double eta_ = -1, shrink_ = 0;
  Half low_{}, high_{};  // of a point on the grid
};

// The entries of a jet by the degree of their polynomials in z.
class Entries {
 public:
  Entries(const JetPoint& point, GridDensity& to) {
    for (const Degree degree : {Degree::zero, Degree::one, Degree::two}) {
      for_each_entry(to.parameters, [&](std::size_t a, std::size_t b) {
        if (point.degree(a, b) == degree) all_.push_back({a, b, {}, to.mass[jet_index(a, b)]});
      });
      end_[static_cast<std::size_t>(degree)] = all_.size();
    }
  }

  void at(const JetPoint& point, std::size_t i, double inverse_sd) {
    for (Entry& e : all_) e.p = point.polynomial(e.a, e.b, i, inverse_sd);
  }

  [[gnu::always_inline]] void add(const Gaussian& g, std::size_t first) const {
    const Entry *e = all_.data(), *const begin = e;
    const Four low = g.low.w, high = g.high.w;
    for (; e < begin + end_[0]; ++e) to(e, first, e->p.A * low, e->p.A * high);
    if (end_[2] == end_[0]) return;
    const Four low1 = low * g.low.z, high1 = high * g.high.z;
    for (; e < begin + end_[1]; ++e) to(e, first, e->p.A * low + e->p.B * low1, e->p.A * high + e->p.B * high1);
    const Four low2 = low * (g.low.z * g.low.z - 1), high2 = high * (g.high.z * g.high.z - 1);
    for (; e < begin + end_[2]; ++e)
      to(e, first, e->p.A * low + (e->p.B * low1 + e->p.C * low2), e->p.A * high + (e->p.B * high1 + e->p.C * high2));
  }

 private:
  struct Entry {
    std::size_t a, b;
    Polynomial p;
    double* out;
  };
  [[gnu::always_inline]] static void to(const Entry* e, std::size_t first, Four low, Four high) {
    *reinterpret_cast<Four*>(e->out + first) += low;
    *reinterpret_cast<Four*>(e->out + first + kFour) += high;
  }

  std::vector<Entry> all_;
  std::array<std::size_t, 3> end_{};
};

[[gnu::always_inline]] inline void spread_all(const GridDensity& from, const Fields& fields, double cut,
                                              GridDensity& to) {
  const double* sd = fields.sd[0];
  Gaussian gaussian;
  const JetPoint point(from, fields);
  Entries entries(point, to);
  for (std::size_t i = 0; i < from.points; ++i) {
    const double mean = fields.mean[0][i], inverse_sd = 1 / sd[i], eta = to.step * inverse_sd;
    const auto first = static_cast<std::size_t>(std::ceil((mean - cut * sd[i] - to.lo) / to.step));
    const std::size_t end = first + targets(cut, sd[i], to.step);
    entries.at(point, i, inverse_sd);
    // A Gaussian that falls between the points, which only a negligible one does, must not grow where it hits one.
    gaussian.begin(std::min(1.0, eta * (std::numbers::inv_sqrtpi / std::numbers::sqrt2)),
                   (to.lo + static_cast<double>(first) * to.step - mean) * inverse_sd, eta);
    for (std::size_t j = first; j < end; j += kStride, gaussian.advance()) entries.add(gaussian, j);
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
