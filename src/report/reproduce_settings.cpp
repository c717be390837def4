#include <fmt/format.h>

#include <bit>

#include "problem/grid.hpp"
#include "report/reproduce_study.hpp"

namespace mckean {
namespace {

std::size_t power_of_two(FigureSettings& s, const std::string& key) {
  const std::size_t value = s.whole(key, 1);
  if (!std::has_single_bit(value)) s.fail(key, fmt::format("'{}' must be a power of two", key));
  return value;
}

int level(FigureSettings& s, const std::string& key) {
  const std::size_t value = s.whole(key, 0);
  if (value > static_cast<std::size_t>(kHighestLevel))
    s.fail(key, fmt::format("'{}' must be at most {}", key, kHighestLevel));
  return static_cast<int>(value);
}

// The step γ_n = gamma (n0 + n)^−rho.
StepRule step(FigureSettings& s) {
  const std::vector<double> v = s.numbers("step");
  if (v.size() != 3 || !(v[0] > 0) || v[1] < 0 || !(v[2] > 0.5 && v[2] <= 1))
    s.fail("step", "'step' must be [gamma, n0, rho] with gamma > 0, n0 >= 0 and 1/2 < rho <= 1");
  return {v[0], v[1], v[2]};
}

template <class Enum>
Enum one_of(FigureSettings& s, const std::string& key, const std::pair<const char*, Enum> (&choices)[2]) {
  const std::string text = s.text(key);
  for (const auto& [word, value] : choices)
    if (text == word) return value;
  s.fail(key, fmt::format("'{}' must be \"{}\" or \"{}\"", key, choices[0].first, choices[1].first));
}
}  // namespace

StudySettings read_study(const TomlFile& file, const std::string& name, const std::string& scale) {
  const toml::table* table = file.root()[name].as_table();
  if (!table) file.fail(fmt::format("there is no table [{}]", name));
  FigureSettings s(file, *table, scale);
  StudySettings out;
  out.name = name;
  out.model = s.text("model"), out.data = s.text("data"), out.until = s.number("until");
  EstimatorOptions& e = out.estimator;
  e.lowest = level(s, "lowest"), e.highest = level(s, "highest");
  if (e.highest < e.lowest) s.fail("highest", "'highest' must not be below 'lowest'");
  e.most_p = static_cast<int>(s.whole("p_max", 0));
  e.level_weight = Formula(s.text("level_weight"), "level_weight", {"l"});
  e.length_weight = Formula(s.text("length_weight"), "length_weight", {"p"});
  e.chain_length = Formula(s.text("chain_length"), "chain_length", {"p"});
  e.particles = Rule(s.text("particles"), "particles");
  e.law_particles = Rule(s.text("law_particles"), "law_particles");
  e.chain.step = step(s);
  e.chain.smoother =
      one_of<Smoother>(s, "smoother", {{"genealogy", Smoother::genealogy}, {"backward", Smoother::backward}});
  e.chain.derivative = one_of<Derivative>(
      s, "gradient", {{"tangent", Derivative::tangent}, {"finite-difference", Derivative::finite_difference}});
  out.repetitions = s.whole("repetitions", 2);
  out.least = power_of_two(s, "least"), out.most = power_of_two(s, "most");
  if (out.most <= out.least) s.fail("most", "'most' must be above 'least'");
  out.reference = s.whole("reference", 2);
  out.single_repetitions = s.whole("single_repetitions", 2), out.single_most = power_of_two(s, "single_most");
  out.fits = s.whole("fits", 2);
  out.fit_replicates = s.numbers("fit_replicates");
  for (const double n : out.fit_replicates)
    if (!(n >= 2 && n <= 1e6)) s.fail("fit_replicates", "'fit_replicates' must be numbers from 2 to 1000000");
  out.exact_level = level(s, "exact_level");
  if (out.exact_level < e.highest && out.exact_level <= e.lowest)
    s.fail("exact_level", "'exact_level' must be 'highest', or above 'lowest': it is extrapolated from two levels");
  s.refuse_others();
  out.used = s.used();
  return out;
}

Data without_late_rows(Data data, double until) {
  for (Series& s : data.series) {
    std::size_t rows = 0;
    while (rows < s.times.size() && s.times[rows] <= until) ++rows;
    s.times.resize(rows), s.lines.resize(rows), s.values.resize(rows * data.columns.size());
  }
  std::erase_if(data.series, [](const Series& s) { return s.times.empty(); });
  if (data.series.empty()) throw InputError(fmt::format("{}: there is no observation until {}", data.source, until));
  return data;
}
}  // namespace mckean
