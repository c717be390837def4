#include "step/whitening.hpp"

namespace mckean {

Whitening::Whitening(const Model& model, const std::vector<std::vector<Expr>>& all) : graph_(model.graph()) {
  std::vector<const std::vector<Expr>*> rows;
  for (std::size_t c = 0; c < all.size(); ++c)
    if (model.components()[c].noisy) rows.push_back(&all[c]);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto sigma = [&](std::size_t j) {
      Expr s = graph_.number(0);
      for (std::size_t k = 0; k < rows[i]->size(); ++k) s = s + (*rows[i])[k] * (*rows[j])[k];
      return s;
    };
    lower_.emplace_back();
    Expr d = sigma(i);
    for (std::size_t j = 0; j < i && !model.diagonal(); ++j) {
      Expr s = sigma(j);
      for (std::size_t k = 0; k < j; ++k) s = s - lower_[i][k] * lower_[j][k] * diagonal_[k];
      lower_[i].push_back(s / diagonal_[j]);
      d = d - pow(lower_[i][j], 2) * diagonal_[j];
    }
    diagonal_.push_back(d);
  }
}

std::vector<Expr> Whitening::operator()(const std::vector<Expr>& v) const {
  std::vector<Expr> w = v;
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t k = 0; k < lower_[i].size(); ++k) w[i] = w[i] - lower_[i][k] * w[k];
  return w;
}

Expr Whitening::product(const std::vector<Expr>& white, const std::vector<Expr>& other) const {
  std::vector<Expr> terms;
  for (std::size_t i = 0; i < white.size(); ++i) terms.push_back(white[i] * other[i] / diagonal_[i]);
  return sum_of(graph_, terms);
}

Expr Whitening::log_determinant() const {
  std::vector<Expr> terms;
  for (const Expr d : diagonal_) terms.push_back(log(d));
  return sum_of(graph_, terms);
}
}  // namespace mckean
