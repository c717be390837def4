#include "engine/kalman/linear_formulas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/differentiator.hpp"

namespace mckean {

using Eigen::Index;

namespace {

constexpr unsigned kLaw = Kind::uniform;  // symbols of m and P

// Derivatives of an expression in symbols, of which large states have many and an expression few.
class Slopes {
 public:
  explicit Slopes(Expr e) : e_(e), nodes_(reachable(std::span(&e, 1))) {}
  bool reads(Expr symbol) const { return std::ranges::binary_search(nodes_, symbol.id(), {}, &Expr::id); }
  Expr in(Expr symbol) const { return reads(symbol) ? differentiate(e_, symbol) : e_.graph().number(0); }

 private:
  Expr e_;
  std::vector<Expr> nodes_;  // by number
};

// The formulas of a model with averages over a normal law written out.
class Linearised {
 public:
  explicit Linearised(const Model& model) : model_(model), graph_(model.graph()) {
    const std::size_t d = model.dimension();
    for (std::size_t i = 0; i < d; ++i) mean.push_back(graph_.symbol({Kind::uniform, "m", static_cast<int>(i)}));
    for (std::size_t k = 0; k < d * d; ++k)
      covariance.push_back(graph_.symbol({Kind::uniform, "P", static_cast<int>(k)}));
    for (const auto& i : model.interactions()) average(i);
    for (const auto& c : model.components()) drift.push_back(substitute(c.drift, averages_));
  }

  std::optional<std::string> problem() const {
    if (!problem_.empty()) return problem_;
    const auto& components = model_.components();
    for (std::size_t i = 0; i < components.size(); ++i) {
      const Slopes slopes(drift[i]);
      for (const auto& other : components)
        if (slopes.in(other.symbol).has(Kind::state))
          return fmt::format("the drift of '{}' is not linear in the state", components[i].name);
      for (const Expr s : components[i].diffusion)
        if (s.has(Kind::state)) return fmt::format("the noise of '{}' depends on the state", components[i].name);
    }
    for (const auto& y : model_.observed()) {
      if (y.distribution != Distribution::normal) return fmt::format("observation '{}' is not normal", y.name);
      const Slopes slopes(y.arguments[0]);
      for (const auto& c : components)
        if (slopes.in(c.symbol).has(Kind::state))
          return fmt::format("the mean of observation '{}' is not linear in the state", y.name);
      if (y.arguments[1].has(Kind::state))
        return fmt::format("the noise of observation '{}' depends on the state", y.name);
    }
    return {};
  }

  // At x = 0.
  Expr at_origin(Expr e) const {
    Substitution zero;
    for (const auto& c : model_.components()) zero.emplace(c.symbol.id(), graph_.number(0));
    return substitute(e, zero);
  }

  std::vector<Expr> mean, covariance, drift;

 private:
  void average(const Interaction& interaction) {
    const std::size_t d = model_.dimension();
    Substitution at_mean;
    for (std::size_t i = 0; i < d; ++i) at_mean.emplace(other(model_.components()[i].symbol).id(), mean[i]);
    Expr out = substitute(interaction.kernel, at_mean);
    const Slopes first(interaction.kernel);
    for (std::size_t i = 0; i < d; ++i) {
      const Slopes slopes(first.in(other(model_.components()[i].symbol)));
      for (std::size_t j = 0; j < d; ++j) {
        const Expr second = slopes.in(other(model_.components()[j].symbol));
        if (second.has(Kind::other_state))
          problem_ =
              fmt::format("interaction '{}' is of more than second degree in the other particle", interaction.name);
        out = out + 0.5 * (second * covariance[i * d + j]);
      }
    }
    averages_.emplace(interaction.symbol.id(), out);
  }

  const Model& model_;
  Graph& graph_;
  Substitution averages_;
  std::string problem_;
};
}  // namespace

std::optional<std::string> LinearFormulas::refuses(const Model& of) {
  const Model model = of.copy();
  return Linearised(model).problem();
}

LinearFormulas::LinearFormulas(const Model& of, bool derivatives)
    : parameters_(derivatives ? of.parameters().size() : 0),
      dimension_(static_cast<Index>(of.dimension())),
      observed_(static_cast<Index>(of.observed().size())) {
  const Model model = of.copy();
  const Linearised linear(model);
  const auto& components = model.components();
  const std::size_t d = components.size();
  for (std::size_t i = 0; i < d; ++i) {
    const Slopes slopes(linear.drift[i]);
    for (std::size_t j = 0; j < d; ++j)
      constant_ = constant_ && !slopes.in(linear.mean[j]).has(kLaw) && !slopes.in(components[j].symbol).has(kLaw);
    for (const Expr p : linear.covariance) {
      const bool reads = !slopes.in(p).is_number(0);
      covariance_ = covariance_ || reads, constant_ = constant_ && !reads;
    }
    constant_ = constant_ && !linear.drift[i].has(Kind::time);
    for (const Expr s : components[i].diffusion) constant_ = constant_ && !s.has(Kind::time);
  }

  std::vector<std::size_t> order(parameters_);
  std::iota(order.begin(), order.end(), 0);
  Differentiator jets(model, order, parameters_);
  ProgramSpec spec{model.parameter_symbols(), {model.time()}, {}, {}, {}};
  for (const auto& [bases, name] : {std::pair{&linear.mean, "m_jet"}, {&linear.covariance, "P_jet"}})
    for (const Expr e : jets.moving(*bases, Kind::uniform, name)) spec.uniforms.push_back(e);

  const auto place = [&](Part part, std::size_t row, std::size_t column, Expr e) {
    const std::vector<Expr> all = jets.jets({e});
    for (std::size_t entry = 0; entry < all.size(); ++entry) {
      if (all[entry].is_number(0)) continue;
      places_.push_back({part, entry, static_cast<Index>(row), static_cast<Index>(column),
                         all[entry].is_number() ? all[entry].value() : 0, spec.outputs.size(), all[entry].is_number()});
      if (!all[entry].is_number()) spec.outputs.push_back(all[entry]);
    }
  };
  Substitution no_law;
  for (const Expr m : linear.mean) no_law.emplace(m.id(), model.graph().number(0));
  for (std::size_t i = 0; i < d; ++i) {
    const Slopes slopes(linear.drift[i]);
    for (std::size_t j = 0; j < d; ++j) {
      place(Part::drift, i, j, slopes.in(components[j].symbol));
      if (constant_) place(Part::pull, i, j, slopes.in(linear.mean[j]));
      Expr q = model.graph().number(0);
      for (std::size_t s = 0; s < model.noise_sources(); ++s)
        q = q + components[i].diffusion[s] * components[j].diffusion[s];
      place(Part::noise, i, j, q);
    }
    const Expr rest = linear.at_origin(linear.drift[i]);
    place(Part::rest, i, 0, constant_ ? substitute(rest, no_law) : rest);
  }
  for (std::size_t k = 0; k < model.observed().size(); ++k) {
    const auto& y = model.observed()[k];
    const Slopes slopes(y.arguments[0]);
    for (std::size_t j = 0; j < d; ++j) place(Part::observe, k, j, slopes.in(components[j].symbol));
    place(Part::offset, k, 0, linear.at_origin(y.arguments[0]));
    place(Part::variance, k, 0, y.arguments[1] * y.arguments[1]);
  }
  program_ = Program(spec);
}

LinearFormulas::Reader::Reader(const LinearFormulas& formulas, std::span<const double> theta)
    : formulas_(formulas), frame_(formulas.program_), memory_(formulas.program_.outputs() * kLanes) {
  frame_.set_fixed(theta);
  for (std::size_t o = 0; o < formulas.program_.outputs(); ++o) outputs_.push_back(memory_.data() + o * kLanes);
}

Coefficients LinearFormulas::Reader::at(double t, const JetMatrix& mean, const JetMatrix& covariance) {
  const std::size_t p = formulas_.parameters_;
  uniforms_.assign(1, t);
  for (const JetMatrix* moving : {&mean, &covariance})
    for (std::size_t entry = 0; entry < jet_size(p); ++entry)
      for (Index i = 0; i < moving->rows(); ++i)
        for (Index j = 0; j < moving->columns(); ++j) uniforms_.push_back((*moving)(entry, i, j));
  frame_.set_uniforms(uniforms_);
  frame_.run({}, outputs_, 1);
  const Index d = formulas_.dimension_, n = formulas_.observed_;
  Coefficients out{{d, d, p}, {d, d, p}, {d, 1, p}, {d, d, p}, {n, d, p}, {n, 1, p}, {n, 1, p}};
  JetMatrix* const parts[] = {&out.A, &out.B, &out.c, &out.Q, &out.H, &out.h, &out.v};
  for (const Place& at : formulas_.places_)
    parts[static_cast<std::size_t>(at.part)]->set(at.entry, at.row, at.column,
                                                  at.is_number ? at.number : outputs_[at.output][0]);
  return out;
}
}  // namespace mckean
