#include "problem/blocks.hpp"

#include <algorithm>
#include <map>

#include "problem/block_averages.hpp"
#include "problem/block_joins.hpp"

namespace mckean {
namespace {

std::vector<std::size_t> block_of_component(const Blocks& blocks) {
  std::vector<std::size_t> out(blocks.model.dimension());
  for (std::size_t b = 0; b < blocks.all.size(); ++b)
    for (const std::size_t i : blocks.all[b].components) out[i] = b;
  return out;
}

// Finds which blocks are equal, once each has the same names for its components. Drifts of one kind read averages over
// equal kinds: kinds begin as large as their starts allow and are split until that is so.
class Sorting {
 public:
  explicit Sorting(Blocks& out) : out_(out), graph_(out.model.graph()), averages_(out.model, block_of_component(out)) {
    for (const Block& b : out_.all) {
      for (std::size_t k = 0; k < b.components.size(); ++k) {
        const Expr x = out_.model.components()[b.components[k]].symbol;
        own_names_.emplace(x.id(), own(Kind::state, k));
        own_names_.emplace(other(x).id(), own(Kind::other_state, k));
      }
      for (std::size_t k = 0; k < b.columns.size(); ++k)
        own_names_.emplace(out_.model.observed()[b.columns[k]].symbol.id(), own(Kind::observed, k));
    }
    for (const Block& b : out_.all) formulas_.push_back(formulas_of(b));
    for (const BlockAverage& a : averages_.all()) averaged_.push_back(substitute(a.of, own_names_));
    out_.joint = averages_.joint();
  }

  void run() {
    std::size_t kinds = sort(&Block::kind, [&](const Block& b) {
      std::vector<double> key;
      for (const std::size_t i : b.components)
        key.insert(key.end(), {out_.model.components()[i].start, out_.model.components()[i].start_sd});
      return key;
    });
    for (std::size_t before = 0; before != kinds;) {
      before = kinds;
      name_averages();
      kinds = sort(&Block::kind, [&](const Block& b) {
        std::vector<std::size_t> key{b.kind};
        for (const Expr e : substitute(all_formulas(b), by_kind_)) key.push_back(e.id());
        return key;
      });
    }
    describe_kinds();
    describe_views();
  }

 private:
  struct Formulas {
    std::vector<Expr> drift;
    std::vector<std::vector<Expr>> diffusion;
  };

  Expr own(Kind::Bits kind, std::size_t k) const { return graph_.symbol({kind, "of a block", static_cast<int>(k)}); }
  const Formulas& formulas(const Block& b) const { return formulas_[static_cast<std::size_t>(&b - out_.all.data())]; }

  Formulas formulas_of(const Block& b) const {
    const auto renamed = [&](Expr e) { return substitute(substitute(e, averages_.replace()), own_names_); };
    const auto& components = out_.model.components();
    Formulas out;
    for (const std::size_t i : b.components) {
      out.drift.push_back(renamed(components[i].drift));
      out.diffusion.emplace_back();
    }
    for (std::size_t s = 0; s < out_.model.noise_sources(); ++s) {
      const auto felt = [&](std::size_t i) { return !components[i].diffusion[s].is_number(0); };
      if (std::ranges::none_of(b.components, felt)) continue;
      for (std::size_t k = 0; k < b.components.size(); ++k)
        out.diffusion[k].push_back(renamed(components[b.components[k]].diffusion[s]));
    }
    return out;
  }

  std::vector<Expr> all_formulas(const Block& b) const {
    std::vector<Expr> out = formulas(b).drift;
    for (const auto& row : formulas(b).diffusion) out.insert(out.end(), row.begin(), row.end());
    return out;
  }

  // Blocks with equal keys become one; returns how many there are.
  template <class Key>
  std::size_t sort(std::size_t Block::*number, Key&& key) {
    std::map<decltype(key(out_.all[0])), std::size_t> numbers;
    std::vector<std::size_t> sorted;
    for (const Block& b : out_.all) sorted.push_back(numbers.try_emplace(key(b), numbers.size()).first->second);
    for (std::size_t b = 0; b < sorted.size(); ++b) out_.all[b].*number = sorted[b];
    return numbers.size();
  }

  // One symbol for equal averages over blocks of one kind.
  void name_averages() {
    by_kind_.clear(), named_.clear();
    std::map<std::pair<std::size_t, std::uint32_t>, Expr> known;
    for (std::size_t a = 0; a < averaged_.size(); ++a) {
      const std::size_t kind = out_.all[averages_.all()[a].block].kind;
      const auto [at, fresh] = known.try_emplace({kind, averaged_[a].id()}, Expr{});
      if (fresh) {
        const bool pairwise = averaged_[a].has(Kind::other_state);
        at->second =
            graph_.symbol({pairwise ? Kind::column : Kind::uniform, "average", static_cast<int>(named_.size())});
        named_.push_back({kind, averaged_[a], at->second});
      }
      by_kind_.emplace(averages_.all()[a].symbol.id(), at->second);
    }
  }

  void describe_kinds() {
    std::vector<Expr> all;
    for (const Block& b : out_.all) {
      if (b.kind != out_.kinds.size()) continue;
      BlockKind& kind = out_.kinds.emplace_back();
      for (std::size_t k = 0; k < b.components.size(); ++k) {
        const Component& c = out_.model.components()[b.components[k]];
        kind.x.push_back(own(Kind::state, k));
        kind.start.push_back(c.start), kind.start_sd.push_back(c.start_sd);
        kind.diffusion.push_back(substitute(formulas(b).diffusion[k], by_kind_));
      }
      kind.drift = substitute(formulas(b).drift, by_kind_);
      for (const Expr e : substitute(all_formulas(b), by_kind_)) all.push_back(e);
    }
    const auto read = reachable(all);
    for (const KindAverage& a : named_)
      if (std::ranges::find(read, a.symbol) != read.end())
        (a.of.has(Kind::other_state) ? out_.pairwise : out_.moments).push_back(a);
  }

  void describe_views() {
    std::vector<BlockView> of_block;
    for (const Block& b : out_.all) {
      of_block.push_back({b.kind, {}});
      for (std::size_t k = 0; k < b.columns.size(); ++k) {
        ObservedColumn y = out_.model.observed()[b.columns[k]];
        y.symbol = own(Kind::observed, k);
        y.log_density = substitute(y.log_density, own_names_);
        y.arguments = substitute(y.arguments, own_names_);
        of_block.back().columns.push_back(y);
      }
    }
    const std::size_t views = sort(&Block::view, [&](const Block& b) {
      std::vector<std::size_t> key{b.kind};
      for (const ObservedColumn& y : of_block[static_cast<std::size_t>(&b - out_.all.data())].columns)
        key.insert(key.end(), {y.log_density.id(), static_cast<std::size_t>(y.distribution)});
      return key;
    });
    for (std::size_t b = 0; b < of_block.size() && out_.views.size() < views; ++b)
      if (out_.all[b].view == out_.views.size()) out_.views.push_back(of_block[b]);
  }

  Blocks& out_;
  Graph& graph_;
  BlockAverages averages_;
  Substitution own_names_;
  std::vector<Formulas> formulas_;  // of each block, with averages over blocks
  std::vector<Expr> averaged_;      // what each average is of, in own names
  Substitution by_kind_;            // averages over blocks as averages over kinds
  std::vector<KindAverage> named_;
};
}  // namespace

Blocks::Blocks(const Model& of) : model(of.copy()), all(joined_blocks(model)) { Sorting(*this).run(); }

const Block& Blocks::largest() const {
  return *std::ranges::max_element(all, {}, [](const Block& b) { return b.components.size(); });
}
}  // namespace mckean
