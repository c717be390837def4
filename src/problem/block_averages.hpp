// Averages over the law of a state in blocks, which are independent given the law: sums of products of averages over
// single blocks.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>

#include "mckean/model.hpp"

namespace mckean {

// The average over the law of one block of ψ(x), a number, or of ξ(x, x') over x', a function of the point x.
struct BlockAverage {
  std::size_t block;  // over whose law
  Expr of;
  Expr symbol;
  bool pairwise() const { return of.has(Kind::other_state); }
};

class BlockAverages {
 public:
  BlockAverages(const Model&, std::span<const std::size_t> block_of);  // of each component; the model's graph may grow

  const std::vector<BlockAverage>& all() const { return all_; }
  // Each interaction as an expression in the symbols of averages.
  const Substitution& replace() const { return replace_; }
  // An interaction whose average over several blocks does not split; empty: there is none.
  const std::string& joint() const { return joint_; }

 private:
  std::size_t block(Expr state) const { return blocks_.at({state.symbol().name, state.symbol().index}); }
  std::set<std::size_t> primed_blocks(Expr kernel) const;
  std::optional<Expr> number(Expr psi);
  std::optional<Expr> pairwise(Expr kernel);
  Expr average_over(std::size_t block, Expr of);

  Graph& graph_;
  std::map<std::pair<std::string, int>, std::size_t> blocks_;  // of a component's symbol
  Substitution unprimed_;
  std::vector<BlockAverage> all_;
  std::map<std::pair<std::size_t, std::uint32_t>, Expr> known_;
  Substitution replace_;
  std::string joint_;
};
}  // namespace mckean
