#include "step/distribute.hpp"

namespace mckean {
namespace {

class Distributed {
 public:
  explicit Distributed(Expr root) : root_(root) {
    for (const Expr e : reachable(std::span(&root, 1)))
      for (std::size_t i = 0; i < e.arity(); ++i) ++uses_[e.operand(i).id()];
  }
  Expr operator()(Expr factor) { return over(factor, root_); }

 private:
  Expr over(Expr factor, Expr e) {
    if (e != root_ && uses_[e.id()] > 1) return factor * e;
    switch (e.op()) {
      case Op::add:
        return over(factor, e.operand(0)) + over(factor, e.operand(1));
      case Op::sub:
        return over(factor, e.operand(0)) - over(factor, e.operand(1));
      case Op::neg:
        return -over(factor, e.operand(0));
      case Op::mul:
        for (std::size_t i = 0; i < 2; ++i)
          if (!e.operand(i).has(Kind::state | Kind::column)) return over(factor * e.operand(i), e.operand(1 - i));
        return factor * e;
      default:
        return factor * e;
    }
  }

  Expr root_;
  std::unordered_map<std::uint32_t, std::size_t> uses_;
};
}  // namespace

Expr distribute(Expr factor, Expr e) { return Distributed(e)(factor); }
}  // namespace mckean
