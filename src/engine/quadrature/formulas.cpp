#include "engine/quadrature/formulas.hpp"

#include <algorithm>
#include <cassert>

#include "engine/differentiator.hpp"
#include "step/step.hpp"

namespace mckean {
namespace {

std::vector<std::size_t> dynamic_first(const Model& model, std::size_t& dynamic) {
  std::vector<Expr> roots;
  for (const auto& c : model.components()) roots.push_back(c.drift);
  for (const auto& i : model.interactions()) roots.push_back(i.kernel);
  const auto nodes = reachable(roots);
  std::vector<std::size_t> order;
  for (std::size_t p = 0; p < model.parameters().size(); ++p) order.push_back(p);
  const auto rest = std::stable_partition(order.begin(), order.end(), [&](std::size_t p) {
    return std::ranges::find(nodes, model.parameter_symbols()[p]) != nodes.end();
  });
  dynamic = static_cast<std::size_t>(rest - order.begin());
  return order;
}

template <class... Lists>
std::vector<Expr> join(std::vector<Expr> first, const Lists&... rest) {
  (first.insert(first.end(), rest.begin(), rest.end()), ...);
  return first;
}

// Kernels as functions of d in place of x − x'; none where one is not such a function.
std::optional<std::vector<Expr>> of_difference(const std::vector<Expr>& kernels, Expr x, Expr d) {
  const Substitution replace{{(x - other(x)).id(), d}, {(other(x) - x).id(), -d}};
  std::vector<Expr> out;
  for (const Expr k : kernels) {
    out.push_back(substitute(k, replace));
    if (out.back().has(Kind::state) || out.back().has(Kind::other_state)) return {};
  }
  return out;
}

// s(x) at t = 0; 1 where it does not depend on x.
Expr scale_of(const Model& model, const BlockKind& kind) {
  const Expr at_start = substitute(noise_of(kind), {{model.time().id(), model.graph().number(0)}});
  return at_start.has(Kind::state) ? at_start : model.graph().number(1);
}

// As `bell` in Formulas.
Program bell_program(const Model& model) {
  const auto column = [&](const char* name) { return model.graph().symbol({Kind::column, name, 0}); };
  const auto uniform = [&](const char* name) { return model.graph().symbol({Kind::uniform, name, 0}); };
  const Expr x = column("x"), w = column("w"), mean = uniform("mean"), inverse_sd = uniform("inverse_sd");
  const Expr z = (x - mean) * inverse_sd, b = w * inverse_sd * exp(-0.5 * z * z);
  return Program({{}, {mean, inverse_sd}, {x, w}, {b, b * z, b * (z * z - 1)}, {}});
}

std::vector<Expr> times(Expr factor, std::vector<Expr> list) {
  for (Expr& e : list) e = factor * e;
  return list;
}

bool reads(const BlockKind& kind, Expr symbol) {
  const auto nodes = reachable(kind.drift);
  return std::ranges::find(nodes, symbol) != nodes.end();
}

// Builds the programs of each kind.
class FormulaBuilder {
 public:
  FormulaBuilder(Formulas& out, Scheme scheme)
      : out_(out),
        scheme_(scheme),
        model_(out.blocks.model),
        graph_(model_.graph()),
        law_(model_, out.order, out.dynamic),
        observation_(model_, out.order, out.order.size()),
        time_(model_),
        mass_(graph_.symbol({Kind::column, "mass", 0})),
        masses_(law_.moving({mass_}, Kind::column, "mass_jet")) {
    std::vector<Expr> numbers;
    for (const KindAverage& m : out_.blocks.moments) numbers.push_back(m.symbol);
    inputs_ = law_.moving(numbers, Kind::uniform, "moment_jet");
    for (const KindAverage& p : out_.blocks.pairwise) {
      const std::string name = to_text(p.symbol) + "_jet";
      xi_.push_back(law_.moving({p.symbol}, Kind::column, name.c_str()));
    }
    for (const Step::Stage& stage : step_of_kind(0).stages)
      for (const Expr symbol : stage.symbol) {
        const std::string name = to_text(symbol) + "_jet";
        slopes_.push_back(law_.moving({symbol}, Kind::column, name.c_str()));
      }
  }

  KindFormulas kind(std::size_t k) {
    const BlockKind& kind = out_.blocks.kinds[k];
    const Expr x = kind.x[0], t = time_.t;
    KindFormulas out;
    out.start = kind.start[0], out.start_sd = kind.start_sd[0];
    if (const auto& chart = out_.charts[k])
      out.place = PlaceFormulas{Program({{}, {}, {x}, {chart->x, chart->slope, chart->bend}, {}}), chart->lo, chart->hi,
                                evaluate(chart->x, {{x.id(), 0.0}})};
    std::vector<Expr> xi_jets;
    for (std::size_t over = 0; over < out_.blocks.kinds.size(); ++over) pair(k, over, out, xi_jets);
    const Expr s = scale_of(model_, kind);
    if (s.has(Kind::state)) out.scale.emplace(ProgramSpec{{}, {}, {x}, {s, differentiate(s, x)}, {}});
    std::vector<Expr> moments;
    for (std::size_t m = 0; m < out_.blocks.moments.size(); ++m)
      if (out_.blocks.moments[m].kind == k) {
        out.moments.push_back(m);
        moments.push_back(out_.blocks.moments[m].of);
      }
    write_stages(k, moments, xi_jets, out);
    const Step step = step_of_kind(k);
    const Expr noise_time = step.sigma_on_arrival ? t + time_.flow : t;
    out.noise = Program({model_.parameter_symbols(),
                         {t, time_.flow, time_.root},
                         {x},
                         {substitute(noise_of(kind), {{t.id(), noise_time}}) * time_.root},
                         {}});
    out.read = !moments.empty() ||
               std::ranges::any_of(out_.blocks.pairwise, [&](const KindAverage& p) { return p.kind == k; });
    return out;
  }

  std::vector<Program> observe(const BlockView& view) const {
    const BlockKind& kind = out_.blocks.kinds[view.kind];
    const Expr x = kind.x[0], s = scale_of(model_, kind);
    std::vector<Program> out;
    for (const ObservedColumn& y : view.columns) {
      const Expr curvature = s * differentiate(s * differentiate(y.log_density, x), x);
      out.emplace_back(ProgramSpec{model_.parameter_symbols(),
                                   {time_.t, y.symbol},
                                   {x},
                                   join(observation_.jets({y.log_density}), std::vector{curvature}),
                                   {}});
    }
    return out;
  }

 private:
  Step step_of_kind(std::size_t k) const {
    const BlockKind& kind = out_.blocks.kinds[k];
    const Motion motion{kind.x, kind.drift, kind.diffusion};
    return scheme_ == Scheme::euler ? euler_step(model_, motion) : splitting_step(model_, motion);
  }

  void write_stages(std::size_t k, const std::vector<Expr>& moments, const std::vector<Expr>& xi_jets,
                    KindFormulas& out) const {
    const Expr x = out_.blocks.kinds[k].x[0], t = time_.t;
    const Step step = step_of_kind(k);
    std::vector<Expr> earlier;  // jets
    for (std::size_t s = 0; s < step.stages.size(); ++s) {
      const Step::Stage& stage = step.stages[s];
      const bool last = s + 1 == step.stages.size();
      const Substitution there{{x.id(), stage.point[0]}, {t.id(), t + stage.share * time_.flow}};
      const Expr slope = last ? x + time_.flow * step.rate[0] : stage.slope[0];
      out.stages.push_back({Program({model_.parameter_symbols(),
                                     {t, time_.flow},
                                     join({x}, masses_, earlier),
                                     {},
                                     law_.jets(times(mass_, substitute(moments, there)))}),
                            Program({model_.parameter_symbols(),
                                     join({t, time_.flow}, inputs_),
                                     join({x}, xi_jets, earlier),
                                     law_.jets({slope}),
                                     {}})});
      if (!last) earlier = join(earlier, slopes_[s]);
    }
  }

  // What kind k reads of pairwise averages over another, whose jets follow those before it.
  void pair(std::size_t k, std::size_t over, KindFormulas& to, std::vector<Expr>& xi_jets) {
    const Expr x = out_.blocks.kinds[k].x[0], t = time_.t;
    std::vector<Expr> kernels;
    std::vector<std::size_t> read;
    for (std::size_t p = 0; p < xi_.size(); ++p) {
      const KindAverage& average = out_.blocks.pairwise[p];
      if (average.kind != over || !reads(out_.blocks.kinds[k], average.symbol)) continue;
      read.push_back(p);
      kernels.push_back(substitute(average.of, places(k, over)));
    }
    if (kernels.empty()) return;
    for (std::size_t entry = 0; entry < jet_size(out_.dynamic); ++entry)
      for (const std::size_t p : read) xi_jets.push_back(xi_[p][entry]);
    PairFormulas& out = to.pairs.emplace_back();
    out.over = over, out.kernels = kernels.size();
    const std::vector<Expr>& theta = model_.parameter_symbols();
    const Expr d = graph_.symbol({Kind::column, "difference", 0});
    if (const auto differences = of_difference(kernels, x, d)) {
      const auto jets = law_.jets(*differences);
      for (const Expr e : jets) out.difference_is_zero.push_back(e.is_number(0));
      out.difference.emplace(ProgramSpec{theta, {t}, {d}, jets, {}});
    }
    out.pair = Program({theta, {t, x}, join({other(x)}, masses_), {}, law_.jets(times(mass_, kernels))});
  }

  // x of one kind and x' of another.
  Substitution places(std::size_t k, std::size_t over) const {
    const Expr x = out_.blocks.kinds[k].x[0];
    Substitution out;
    if (const auto& chart = out_.charts[k]) out.emplace(x.id(), chart->x);
    if (const auto& chart = out_.charts[over]) out.emplace(other(x).id(), other(chart->x));
    return out;
  }

  Formulas& out_;
  Scheme scheme_;
  const Model& model_;
  Graph& graph_;
  Differentiator law_, observation_;
  StepSymbols time_;
  Expr mass_;
  std::vector<Expr> masses_, inputs_;      // jets
  std::vector<std::vector<Expr>> xi_;      // of each pairwise average
  std::vector<std::vector<Expr>> slopes_;  // of each stage but the last
};
}  // namespace

bool has_steps(const Blocks& blocks, Scheme scheme) {
  if (scheme == Scheme::euler) return true;
  return std::ranges::all_of(blocks.kinds,
                             [](const BlockKind& k) { return !noise_of(k).has(Kind::state) || chart_of(k); });
}

Formulas::Formulas(const Model& model, bool derivatives, Scheme scheme) : blocks(model) {
  if (derivatives) order = dynamic_first(model, dynamic);
  charts.resize(blocks.kinds.size());
  if (scheme == Scheme::splitting) charts = make_noise_constant(blocks);
  bell = bell_program(blocks.model);
  FormulaBuilder builder(*this, scheme);
  for (std::size_t k = 0; k < blocks.kinds.size(); ++k) {
    assert(blocks.kinds[k].x.size() == 1);
    kinds.push_back(builder.kind(k));
  }
  for (const BlockView& view : blocks.views) observe.push_back(builder.observe(view));
}
}  // namespace mckean
