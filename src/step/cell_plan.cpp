#include "step/cell_plan.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>

namespace mckean {
namespace {

constexpr std::size_t kMostTerms = 32;

using Axes = std::array<std::size_t, 2>;

std::optional<std::vector<SeparatedTerm>> terms_of(Expr kernel) { return separate(kernel, kMostTerms, 2); }

// Σ φ ψ k as expressions of x, S and sums, and all that are summed.
class Builder {
 public:
  Builder(const Model& model, const MeanField& field, Axes axes, const std::vector<std::size_t>& parameters)
      : model_(model), graph_(model.graph()), axes_(axes) {
    for (const auto& c : model.components()) x_.push_back(c.symbol);
    for (const std::size_t p : parameters) {
      theta_.push_back(model.parameter_symbols()[p]);
      for (std::size_t c = 0; c < x_.size(); ++c)
        s_.push_back(graph_.symbol({Kind::column, "S", static_cast<int>(s_.size())}));
    }
    for (const auto& p : field.pairwise) {
      terms_.push_back(*terms_of(p.kernel));
      for (SeparatedTerm& t : terms_.back()) {
        t.other = unprimed(t.other);
        if (!t.atom) t.atom = graph_.number(1);
      }
    }
  }

  CellPlan plan() {
    CellPlan out;
    out.axes = axes_;
    const std::vector<Expr> values = averages();
    out.value_sums = sums_.size();
    const std::vector<Expr> read = derivatives();
    out.read_sums = sums_.size();
    const std::vector<Expr> moved = derivatives_by_own();
    std::vector<Expr> own = values;
    for (std::size_t i = 0; i < read.size(); ++i) own.push_back(read[i] + moved[i]);
    out.sums = sums_;
    out.weights = Program({model_.parameter_symbols(), {model_.time()}, join(x_, s_), weights_, {}});
    for (const Expr k : kernels_) out.kernels.emplace_back(kernel(k));
    out.values = reader(x_, out.value_sums, values);
    out.read = reader(x_, out.read_sums, join(values, read));
    out.own = reader(join(x_, s_), sums_.size(), own);
    return out;
  }

 private:
  static std::vector<Expr> join(std::vector<Expr> first, const std::vector<Expr>& rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
  }

  Program reader(std::vector<Expr> columns, std::size_t sums, const std::vector<Expr>& outputs) const {
    columns.insert(columns.end(), symbols_.begin(), symbols_.begin() + static_cast<std::ptrdiff_t>(sums));
    return Program({model_.parameter_symbols(), {model_.time()}, std::move(columns), outputs, {}});
  }

  ProgramSpec kernel(Expr k) const {
    ProgramSpec spec{model_.parameter_symbols(), {}, {}, {k}, {}};
    for (const std::size_t c : axes_) spec.columns.push_back(x_[c]), spec.uniforms.push_back(other(x_[c]));
    return spec;
  }

  // The mean of ψ k.
  Expr sum(Expr weight, Expr kernel) {
    if (weight.is_number(0) || kernel.is_number(0)) return graph_.number(0);
    const auto [at, fresh] = known_.try_emplace({weight.id(), kernel.id()}, Expr{});
    if (fresh) {
      sums_.push_back({index_of(weight, weights_), index_of(kernel, kernels_)});
      symbols_.push_back(graph_.symbol({Kind::column, "cells", static_cast<int>(symbols_.size())}));
      at->second = symbols_.back();
    }
    return at->second;
  }

  static std::size_t index_of(Expr e, std::vector<Expr>& in) {
    const auto at = std::ranges::find(in, e);
    if (at == in.end()) in.push_back(e);
    return static_cast<std::size_t>(std::ranges::find(in, e) - in.begin());
  }

  std::vector<Expr> averages() {
    std::vector<Expr> out;
    for (const auto& interaction : terms_) {
      Expr mean = graph_.number(0);
      for (const SeparatedTerm& t : interaction) mean = mean + t.own * sum(t.other, t.atom);
      out.push_back(mean);
    }
    return out;
  }

  // ∂φ F[ψ, k] + φ (F[dψ, k] + F[ψ, ∂k] + Σ_c F[ψ S_c, ∂k/∂x'_c]), parameter by parameter.
  std::vector<Expr> derivatives() {
    std::vector<Expr> out;
    for (std::size_t p = 0; p < theta_.size(); ++p) {
      Substitution along{{theta_[p].id(), graph_.number(1)}};
      for (std::size_t c = 0; c < x_.size(); ++c) along.emplace(x_[c].id(), tangent(p, c));
      for (const auto& interaction : terms_) {
        Expr total = graph_.number(0);
        for (const SeparatedTerm& t : interaction) {
          total = total + differentiate(t.own, theta_[p]) * sum(t.other, t.atom);
          Expr inner = sum(differentiate(t.other, along), t.atom) + sum(t.other, differentiate(t.atom, theta_[p]));
          for (const std::size_t c : axes_)
            inner = inner + sum(t.other * tangent(p, c), differentiate(t.atom, other(x_[c])));
          total = total + t.own * inner;
        }
        out.push_back(total);
      }
    }
    return out;
  }

  // (S ∂φ) F[ψ, k] + φ Σ_c S_c F[ψ, ∂k/∂x_c]
  std::vector<Expr> derivatives_by_own() {
    std::vector<Expr> out;
    for (std::size_t p = 0; p < theta_.size(); ++p)
      for (const auto& interaction : terms_) {
        Expr total = graph_.number(0);
        for (const SeparatedTerm& t : interaction) {
          for (std::size_t c = 0; c < x_.size(); ++c)
            total = total + (tangent(p, c) * differentiate(t.own, x_[c])) * sum(t.other, t.atom);
          for (const std::size_t c : axes_)
            total = total + (t.own * tangent(p, c)) * sum(t.other, differentiate(t.atom, x_[c]));
        }
        out.push_back(total);
      }
    return out;
  }

  Expr tangent(std::size_t p, std::size_t c) const { return s_[p * x_.size() + c]; }

  const Model& model_;
  Graph& graph_;
  Axes axes_;
  std::vector<Expr> x_, s_, theta_;
  std::vector<std::vector<SeparatedTerm>> terms_;  // of each interaction, ψ in unprimed symbols
  std::vector<Expr> weights_, kernels_, symbols_;  // the last of each sum
  std::vector<CellSum> sums_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Expr> known_;
};

// Components that stand in an atom, primed or not.
std::set<std::size_t> components_in(const Model& model, Expr atom) {
  std::set<std::size_t> out;
  for (const Expr n : reachable(std::span(&atom, 1)))
    for (std::size_t c = 0; c < model.dimension(); ++c)
      if (const Expr x = model.components()[c].symbol; n == x || n == other(x)) out.insert(c);
  return out;
}
}  // namespace

std::optional<std::array<std::size_t, 2>> cell_axes(const Model& model, const MeanField& field) {
  std::set<std::size_t> axes;
  for (const auto& p : field.pairwise) {
    const auto terms = terms_of(p.kernel);
    if (!terms) return std::nullopt;
    for (const SeparatedTerm& t : *terms)
      if (t.atom) axes.merge(components_in(model, t.atom));
  }
  if (axes.size() != 2) return std::nullopt;
  return Axes{*axes.begin(), *axes.rbegin()};
}

CellPlan plan_cells(const Model& model, const MeanField& field, const std::vector<std::size_t>& parameters) {
  const auto axes = cell_axes(model, field);
  assert(axes);
  return Builder(model, field, *axes, parameters).plan();
}
}  // namespace mckean
