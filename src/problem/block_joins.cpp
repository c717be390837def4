#include "problem/block_joins.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace mckean {
namespace {

// Components in sets that are joined.
class Sets {
 public:
  explicit Sets(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t i, std::size_t j) {
    i = root(i), j = root(j);
    parent_[std::max(i, j)] = std::min(i, j);
  }

 private:
  std::vector<std::size_t> parent_;
};

class Joining {
 public:
  explicit Joining(const Model& model) : model_(model), sets_(model.dimension()) {
    for (std::size_t i = 0; i < model.dimension(); ++i) component_.emplace(model.components()[i].symbol.id(), i);
    for (const auto& i : model.interactions()) felt_.emplace(i.symbol.id(), components_in({i.kernel}));
  }

  std::vector<Block> blocks() {
    by_dynamics();
    by_noise();
    std::vector<std::vector<std::size_t>> seen;
    for (const auto& y : model_.observed()) {
      seen.push_back(components_in({y.log_density}));
      for (const std::size_t j : seen.back()) sets_.join(seen.back()[0], j);
    }
    std::vector<Block> out;
    std::map<std::size_t, std::size_t> block;  // of a root
    for (std::size_t i = 0; i < model_.dimension(); ++i) {
      const auto [at, fresh] = block.try_emplace(sets_.root(i), out.size());
      if (fresh) out.emplace_back();
      out[at->second].components.push_back(i);
    }
    for (std::size_t c = 0; c < seen.size(); ++c)
      out[seen[c].empty() ? 0 : block.at(sets_.root(seen[c][0]))].columns.push_back(c);
    return out;
  }

 private:
  // That occur unprimed, interactions written out.
  std::vector<std::size_t> components_in(const std::vector<Expr>& roots) const {
    std::set<std::size_t> out;
    for (const Expr e : reachable(roots)) {
      if (const auto own = component_.find(e.id()); own != component_.end()) out.insert(own->second);
      if (const auto other = felt_.find(e.id()); other != felt_.end())
        out.insert(other->second.begin(), other->second.end());
    }
    return {out.begin(), out.end()};
  }

  void by_dynamics() {
    for (std::size_t i = 0; i < model_.dimension(); ++i) {
      std::vector<Expr> row = model_.components()[i].diffusion;
      row.push_back(model_.components()[i].drift);
      for (const std::size_t j : components_in(row)) sets_.join(i, j);
    }
  }

  // Where (σσᵀ)_ij is not 0.
  void by_noise() {
    const auto& components = model_.components();
    std::set<std::pair<std::size_t, std::size_t>> sharing;
    for (std::size_t s = 0; s < model_.noise_sources(); ++s) {
      std::vector<std::size_t> felt;
      for (std::size_t i = 0; i < components.size(); ++i)
        if (!components[i].diffusion[s].is_number(0)) felt.push_back(i);
      for (const std::size_t i : felt)
        for (const std::size_t j : felt)
          if (j < i) sharing.emplace(i, j);
    }
    for (const auto& [i, j] : sharing) {
      Expr covariance = model_.graph().number(0);
      for (std::size_t s = 0; s < model_.noise_sources(); ++s)
        covariance = covariance + components[i].diffusion[s] * components[j].diffusion[s];
      if (!covariance.is_number(0)) sets_.join(i, j);
    }
  }

  const Model& model_;
  Sets sets_;
  std::map<std::uint32_t, std::size_t> component_;          // of a state's symbol
  std::map<std::uint32_t, std::vector<std::size_t>> felt_;  // unprimed in the kernel of an interaction's symbol
};

}  // namespace

std::vector<Block> joined_blocks(const Model& model) { return Joining(model).blocks(); }
}  // namespace mckean
