#include "problem/block_averages.hpp"

#include "problem/block_products.hpp"
#include "step/mean_field.hpp"

namespace mckean {

BlockAverages::BlockAverages(const Model& model, std::span<const std::size_t> block_of) : graph_(model.graph()) {
  for (std::size_t i = 0; i < model.dimension(); ++i) {
    const Expr x = model.components()[i].symbol;
    blocks_.emplace(std::pair{x.symbol().name, x.symbol().index}, block_of[i]);
    unprimed_.emplace(other(x).id(), x);
  }
  const MeanField field(model, 0);
  Substitution averages;  // of what the field measures
  for (const Interaction& interaction : model.interactions()) {
    const Expr mean = field.replace.at(interaction.symbol.id());
    const auto nodes = reachable(std::span(&mean, 1));
    const std::set<Expr, decltype([](Expr a, Expr b) { return a.id() < b.id(); })> read(nodes.begin(), nodes.end());
    const auto take = [&](Expr symbol, const std::optional<Expr>& average) {
      if (average)
        averages.emplace(symbol.id(), *average);
      else
        joint_ = interaction.name;
    };
    for (std::size_t r = 0; r < field.moments.size(); ++r)
      if (read.contains(field.inputs[r]) && !averages.contains(field.inputs[r].id()))
        take(field.inputs[r], number(field.moments[r]));
    for (const PairwiseInteraction& p : field.pairwise)
      if (read.contains(p.column)) take(p.column, pairwise(p.kernel));
    replace_.emplace(interaction.symbol.id(), substitute(mean, averages));
  }
}

Expr BlockAverages::average_over(std::size_t block, Expr of) {
  const auto [at, fresh] = known_.try_emplace({block, of.id()}, Expr{});
  if (fresh) {
    const Kind::Bits kind = of.has(Kind::other_state) ? Kind::column : Kind::uniform;
    at->second = graph_.symbol({kind, "block average", static_cast<int>(all_.size())});
    all_.push_back({block, of, at->second});
  }
  return at->second;
}

std::optional<Expr> BlockAverages::number(Expr psi) {
  const auto products = block_products(psi, [&](Expr x) { return block(x); });
  if (!products) return {};
  std::vector<Expr> terms;
  for (const BlockProduct& p : *products) {
    Expr term = p.coefficient;
    for (const auto& [b, factor] : p.factors) term = term * average_over(b, factor);
    terms.push_back(term);
  }
  return sum_of(graph_, terms);
}

std::optional<Expr> BlockAverages::pairwise(Expr kernel) {
  const std::set<std::size_t> over = primed_blocks(kernel);
  if (over.size() == 1) return average_over(*over.begin(), kernel);
  const auto separated = separate(kernel);
  if (!separated) return {};
  std::vector<Expr> terms;
  for (const SeparatedTerm& t : *separated) {
    const auto products = block_products(t.other, [&](Expr x) { return block(x); });
    if (!products) return {};
    for (const BlockProduct& p : *products) {
      Expr term = t.own * p.coefficient, paired = t.atom;
      for (const auto& [b, factor] : p.factors)
        if (t.atom && primed_blocks(t.atom).contains(b))
          paired = factor * t.atom;
        else
          term = term * average_over(b, substitute(factor, unprimed_));
      if (t.atom) term = term * average_over(*primed_blocks(t.atom).begin(), paired);
      terms.push_back(term);
    }
  }
  return sum_of(graph_, terms);
}

std::set<std::size_t> BlockAverages::primed_blocks(Expr kernel) const {
  std::set<std::size_t> out;
  for (const Expr e : reachable(std::span(&kernel, 1)))
    if (e.op() == Op::symbol && e.symbol().kind == Kind::other_state) out.insert(block(e));
  return out;
}
}  // namespace mckean
