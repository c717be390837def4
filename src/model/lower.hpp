// Vector expressions → one scalar expression a component; constants → their values.
#pragma once

#include <map>

#include "mckean/model.hpp"

namespace mckean {

class Lowering {
 public:
  explicit Lowering(const ModelSpec&);

  // Number of components: 1 for a scalar, 0 where vectors of different sizes meet (`clash` then tells which).
  std::size_t size(Expr);
  const std::string& clash() const { return clash_; }

  void declare_interaction(const std::string& name, std::size_t size) { interaction_sizes_[name] = size; }

  // The expression for one component of a vector; mean and sum are written out.
  Expr component(Expr, std::size_t index);

 private:
  std::size_t symbol_size(const Symbol&) const;
  Expr symbol(Expr, std::size_t index) const;
  std::vector<Expr> without_reductions(Expr) const;

  const ModelSpec& spec_;
  std::map<std::string, std::size_t> interaction_sizes_;
  std::string clash_;
};
}  // namespace mckean
