#include "engine/differentiator.hpp"

namespace mckean {

Differentiator::Differentiator(const Model& model, std::span<const std::size_t> order, std::size_t parameters)
    : model_(model), parameters_(parameters), along_(parameters + 1) {
  for (std::size_t b = 1; b <= parameters; ++b)
    along_[b].emplace(model.parameter_symbols()[order[b - 1]].id(), model.graph().number(1));
}

std::vector<Expr> Differentiator::moving(const std::vector<Expr>& bases, Kind::Bits kind, const char* name) {
  std::vector<Expr> out;
  const auto at = [&](std::size_t entry, std::size_t r) { return out[entry * bases.size() + r]; };
  for (std::size_t entry = 0; entry < jet_size(parameters_); ++entry)
    for (const Expr base : bases)
      out.push_back(entry == 0 ? base : model_.graph().symbol({kind, name, static_cast<int>(out.size())}));
  for (std::size_t r = 0; r < bases.size(); ++r)
    for (std::size_t b = 1; b <= parameters_; ++b)
      for (std::size_t a = 0; a <= parameters_; ++a)
        along_[b].emplace(at(jet_index(0, a), r).id(), at(jet_index(a, b), r));
  return out;
}

std::vector<Expr> Differentiator::jets(const std::vector<Expr>& roots) const {
  std::vector<Expr> out;
  for_each_entry(parameters_, [&](std::size_t a, std::size_t b) {
    std::vector<Expr> d = roots;
    for (const std::size_t p : {a, b})
      if (p > 0) d = differentiate(d, along_[p]);
    out.insert(out.end(), d.begin(), d.end());
  });
  return out;
}
}  // namespace mckean
