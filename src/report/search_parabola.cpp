#include "report/search_parabola.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/profile.hpp"
#include "model/symmetric.hpp"
#include "report/chart.hpp"
#include "report/html.hpp"

namespace mckean::report {
namespace {

using Eigen::Index, Eigen::MatrixXd;

constexpr std::size_t kMostSamples = 600, kMostRows = 5000, kCurvePoints = 81;
constexpr double kMostOff = 50;  // log units: by far more than the noise of filters that can be used

// The run's note "search", where it is whole: a search that had no fit leaves one without samples.
struct LastRound {
  std::vector<double> centre;
  MatrixXd covariance;
  double loglik = 0;
  std::vector<double> value, fitted;
  std::vector<std::vector<double>> theta;
};

std::optional<LastRound> last_round(const Context& c) {
  const auto note = c.input.run["notes"].value("search", nlohmann::ordered_json::object());
  const auto numbers = [&](const char* key) {
    std::vector<double> out;
    for (const auto& v : note.value(key, nlohmann::ordered_json::array()))
      out.push_back(v.is_number() ? v.get<double>() : std::nan(""));
    return out;
  };
  const std::size_t k = c.facts.theta.size();
  const auto covariance = numbers("covariance"), loglik = numbers("loglik"), flat = numbers("sample_parameters");
  LastRound out;
  out.centre = numbers("centre"), out.value = numbers("sample_values"), out.fitted = numbers("sample_fitted");
  const std::size_t n = out.value.size();
  if (n == 0 || out.fitted.size() != n || flat.size() != n * k || out.centre.size() != k || loglik.size() != 1 ||
      covariance.size() != k * k)
    return {};
  out.loglik = loglik[0];
  out.covariance = Eigen::Map<const MatrixXd>(covariance.data(), static_cast<Index>(k), static_cast<Index>(k));
  for (std::size_t i = 0; i < n; ++i)
    out.theta.emplace_back(flat.begin() + static_cast<std::ptrdiff_t>(i * k),
                           flat.begin() + static_cast<std::ptrdiff_t>((i + 1) * k));
  return out;
}

// Half of the samples are further off the fit than this.
double median_residual(const LastRound& round) {
  std::vector<double> off;
  for (std::size_t i = 0; i < round.value.size(); ++i) off.push_back(std::abs(round.value[i] - round.fitted[i]));
  std::ranges::sort(off);
  return off[off.size() / 2];
}

// Those whose parabola is known: with a standard error, or of an unfinished run, with a variance where no combination
// of parameters is without one.
std::vector<std::size_t> determined(const Facts& f, const LastRound& round) {
  std::vector<std::size_t> out;
  std::vector<Index> positive;
  for (std::size_t p = 0; p < f.theta.size(); ++p) {
    const auto i = static_cast<Index>(p);
    if (!(round.covariance(i, i) > 0) || (f.finished && !f.estimates[p].std_error)) continue;
    out.push_back(p), positive.push_back(i);
  }
  if (!f.finished && !positive.empty() && !inverse_if_positive(round.covariance(positive, positive), 1e-9)) out.clear();
  return out;
}

// Along one parameter, the others on the ridge: what the parabola has there, and a sample by how far it is off the fit.
struct Profile {
  const LastRound& round;
  std::size_t parameter;

  double centre() const { return round.centre[parameter]; }
  double variance() const { return round.covariance(static_cast<Index>(parameter), static_cast<Index>(parameter)); }
  double parabola(double theta) const {
    return round.loglik - (theta - centre()) * (theta - centre()) / (2 * variance());
  }
  std::pair<double, double> point(std::size_t sample) const {
    const double theta = round.theta[sample][parameter];
    return {theta, round.value[sample] - round.fitted[sample] + parabola(theta)};
  }
};

std::string chart_of(const Context& c, const Profile& profile) {
  const Estimate& e = c.facts.estimates[profile.parameter];
  Points samples, curve;
  for (const std::size_t i : spread(profile.round.value.size(), kMostSamples)) samples.push_back(profile.point(i));
  const auto [low, high] = std::ranges::minmax_element(samples);
  const double from = low->first, to = high->first;
  for (std::size_t k = 0; k < kCurvePoints; ++k) {
    const double theta = from + (to - from) * static_cast<double>(k) / (kCurvePoints - 1);
    curve.emplace_back(theta, profile.parabola(theta));
  }
  Chart chart({fmt::format("Samples along {}", e.name), e.name, "log-likelihood", false, false,
               fmt::format("A parabola with its top at {} and standard deviation {}, through {} samples",
                           short_number(profile.centre(), 5), short_number(std::sqrt(profile.variance())),
                           profile.round.value.size())});
  chart.dots(samples, SeriesStyle::first, "samples");
  chart.line(curve, SeriesStyle::second, "parabola");
  chart.level(profile.round.loglik - kFallOfInterval, e.lower || e.upper ? "1.92 below, 95 % interval" : "1.92 below");
  if (e.lower) chart.mark(*e.lower, "");
  if (e.upper) chart.mark(*e.upper, "");
  for (const auto& [theta, value] : samples)
    chart.hover(theta, fmt::format("{} = {}: {}, parabola {}", e.name, short_number(theta, 5), short_number(value, 5),
                                   short_number(profile.parabola(theta), 5)));
  return chart.html(true);
}

std::string numbers_file(const Facts& f, const LastRound& round) {
  std::vector<std::string> head{"loglik", "fitted"};
  for (const Estimate& e : f.estimates) head.push_back(e.name);
  std::vector<std::vector<double>> rows;
  for (const std::size_t i : spread(round.value.size(), kMostRows)) {
    rows.push_back({round.value[i], round.fitted[i]});
    rows.back().insert(rows.back().end(), round.theta[i].begin(), round.theta[i].end());
  }
  return csv(head, rows);
}
}  // namespace

std::string parabola_figure(const Context& c) {
  const Facts& f = c.facts;
  const auto round = last_round(c);
  if (!round)
    return paragraph(f.finished ? "The search ended without a fit through samples near the top."
                                : "The samples near the top are shown when the search has come that far.");
  if (!(median_residual(*round) < kMostOff))
    return paragraph(fmt::format(
        "Most samples of the last round are more than {} log units off the polynomial fitted to them, so that it means "
        "nothing and is not shown.",
        short_number(kMostOff)));
  const auto known = determined(f, *round);
  if (known.empty()) return paragraph("No parameter has a standard error, so that there is no parabola to show.");
  std::string charts;
  const auto shown = spread(known.size(), kMostParameters);
  for (const std::size_t i : shown) charts += chart_of(c, {*round, known[i]});
  std::string caption = fmt::format(
      "The {} samples of the last round, each by how far it is off the polynomial fitted to all of them, around the "
      "parabola of the standard error, along which the other parameters follow. The scatter is the noise of the "
      "filters; how far the likelihood is from a parabola is not seen here, but in <a href=\"#likelihood\">the section "
      "on it</a>.",
      round->value.size());
  if (shown.size() < known.size())
    caption += fmt::format(" Shown are {} of {} parameters.", shown.size(), known.size());
  if (known.size() < f.theta.size()) caption += " Parameters without a standard error have no parabola.";
  return figure(charts, caption, "samples.csv", numbers_file(f, *round));
}
}  // namespace mckean::report
