#include "step/mean_field.hpp"

#include <algorithm>
#include <set>

namespace mckean {

Expr unprimed(Expr e) {
  Substitution own;
  for (const Expr n : reachable(std::span(&e, 1)))
    if (n.op() == Op::symbol && n.symbol().kind == Kind::other_state)
      own.emplace(n.id(), e.graph().symbol({Kind::state, n.symbol().name, n.symbol().index}));
  return substitute(e, own);
}

namespace {

class Builder {
 public:
  Builder(const Model& model, MeanField& field) : model_(model), graph_(model.graph()), field_(field) {}

  void build() {
    std::vector<std::optional<std::vector<SeparatedTerm>>> plans;
    for (const auto& i : model_.interactions()) plans.push_back(plan(i));
    // The exact moments come first, then the expansions, then the windows.
    for (std::size_t k = 0; k < plans.size(); ++k)
      if (plans[k])
        for (const auto& term : *plans[k])
          if (!term.atom && !term.other.is_number()) exact_moment(unprimed(term.other));
    field_.exact = field_.moments.size();
    for (auto& p : plans)
      if (p)
        for (const auto& term : *p)
          if (term.atom) use_windows(term.atom);
    for (std::size_t k = 0; k < plans.size(); ++k) average(model_.interactions()[k], plans[k]);
  }

 private:
  std::optional<std::vector<SeparatedTerm>> plan(const Interaction& i) const {
    auto terms = separate(i.kernel);
    const bool expanded = terms && std::ranges::any_of(*terms, [](const auto& t) { return static_cast<bool>(t.atom); });
    if (expanded && field_.rank == 0) terms.reset();
    return terms;
  }

  Expr new_input() {
    field_.inputs.push_back(graph_.symbol({Kind::uniform, "m", static_cast<int>(field_.inputs.size())}));
    return field_.inputs.back();
  }

  Expr exact_moment(Expr psi) {
    const auto [at, fresh] = moment_.try_emplace(psi.id(), Expr{});
    if (fresh) {
      field_.moments.push_back(psi);
      at->second = new_input();
    }
    return at->second;
  }

  std::pair<Expr, Expr> variables(Expr atom) const {
    std::pair<Expr, Expr> out;
    for (const Expr n : reachable(std::span(&atom, 1))) {
      if (n.op() != Op::symbol) continue;
      if (n.symbol().kind == Kind::state) out.first = n;
      if (n.symbol().kind == Kind::other_state) out.second = n;
    }
    return out;
  }

  std::size_t window(Expr symbol) {
    const Expr own = unprimed(symbol);
    for (std::size_t c = 0; c < model_.dimension(); ++c) {
      if (model_.components()[c].symbol != own) continue;
      for (std::size_t w = 0; w < field_.windows.size(); ++w)
        if (field_.windows[w].component == c) return w;
      field_.windows.push_back({c, field_.inputs.size()});
      new_input(), new_input();
    }
    return field_.windows.size() - 1;
  }

  void use_windows(Expr atom) {
    const auto [own, other] = variables(atom);
    window(own), window(other);
  }

  std::vector<Expr> polynomials(Expr x, std::size_t w) const {
    const std::size_t at = field_.windows[w].center_input;
    return chebyshev_polynomials(x, field_.inputs[at], field_.inputs[at + 1], field_.rank);
  }

  // Σ_p b_p T_p(x_i), with the moments mean[ψ T_q] behind b.
  Expr expansion(Expr atom, Expr psi) {
    const auto [own, other] = variables(atom);
    Expansion e{atom, own, other, window(own), window(other), field_.moments.size(), field_.inputs.size()};
    for (const Expr t : polynomials(unprimed(other), e.other_window)) field_.moments.push_back(psi * t);
    Expr sum = graph_.number(0);
    for (const Expr t : polynomials(own, e.own_window)) sum = sum + new_input() * t;
    field_.expansions.push_back(e);
    return sum;
  }

  void average(const Interaction& i, const std::optional<std::vector<SeparatedTerm>>& terms) {
    if (!terms) {
      const Expr column = graph_.symbol({Kind::column, "xi", static_cast<int>(field_.pairwise.size())});
      field_.pairwise.push_back({i.kernel, column});
      field_.replace.emplace(i.symbol.id(), column);
      field_.methods.push_back(Method::pairwise);
      field_.ranks.push_back(0);
      return;
    }
    Method method = Method::exact;
    std::size_t rank = 0;
    Expr mean = graph_.number(0);
    for (const auto& term : *terms) {
      if (term.atom) {
        method = Method::chebyshev;
        rank += field_.rank;
        mean = mean + term.own * expansion(term.atom, unprimed(term.other));
      } else if (term.other.is_number()) {
        mean = mean + term.own * term.other;
      } else {
        ++rank;
        mean = mean + term.own * exact_moment(unprimed(term.other));
      }
    }
    field_.replace.emplace(i.symbol.id(), mean);
    field_.methods.push_back(method);
    field_.ranks.push_back(rank);
  }

  const Model& model_;
  Graph& graph_;
  MeanField& field_;
  std::map<std::uint32_t, Expr> moment_;
};
}  // namespace

std::vector<Expr> chebyshev_polynomials(Expr x, Expr center, Expr scale, std::size_t rank) {
  const Expr u = (x - center) * scale, twice = 2.0 * u;
  std::vector<Expr> t{x.graph().number(1), u};
  while (t.size() < rank) t.push_back(twice * t[t.size() - 1] - t[t.size() - 2]);
  t.resize(rank);
  return t;
}

MeanField::MeanField(const Model& model, std::size_t terms) : rank(terms) { Builder(model, *this).build(); }
}  // namespace mckean
