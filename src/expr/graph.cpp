#include <bit>
#include <cmath>
#include <deque>
#include <stdexcept>

#include "expr/functions.hpp"
#include "mckean/expr.hpp"

namespace mckean {

struct Graph::Node {
  Op op;
  std::uint16_t kinds;
  std::uint32_t a, b, c;
  double value;
  std::uint32_t symbol;
};

namespace {

constexpr std::uint32_t kNone = ~0u;

struct Key {
  Op op;
  std::uint32_t a, b, c, symbol;
  std::uint64_t value;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  std::size_t operator()(const Key& k) const {
    std::uint64_t h = static_cast<std::uint64_t>(k.op);
    for (std::uint64_t v :
         {std::uint64_t{k.a}, std::uint64_t{k.b}, std::uint64_t{k.c}, std::uint64_t{k.symbol}, k.value})
      h = (h ^ v) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
    return h;
  }
};
}  // namespace

struct Graph::Store {
  std::deque<Node> nodes;
  std::deque<Symbol> symbols;
  std::map<Symbol, std::uint32_t> symbol_nodes;
  std::unordered_map<Key, std::uint32_t, KeyHash> known;
  bool frozen = false;

  void check_open() const {
    if (frozen) throw std::logic_error("a node was added to the graph of a finished model; take a copy of the model");
  }
};

Graph::Graph() : store_(std::make_unique<Store>()) {}
Graph::~Graph() = default;
std::size_t Graph::size() const { return store_->nodes.size(); }
void Graph::freeze() { store_->frozen = true; }

std::shared_ptr<Graph> Graph::copy() const {
  auto out = std::make_shared<Graph>();
  *out->store_ = *store_;
  out->store_->frozen = false;
  return out;
}

Expr Graph::intern(Op op, Expr a, Expr b, Expr c, double value, std::uint32_t symbol, std::uint16_t kinds) {
  auto id_of = [](Expr e) { return e ? e.id() : kNone; };
  const Key key{op, id_of(a), id_of(b), id_of(c), symbol, std::bit_cast<std::uint64_t>(value)};
  if (const auto at = store_->known.find(key); at != store_->known.end()) return {this, at->second};
  store_->check_open();
  const auto id = static_cast<std::uint32_t>(store_->nodes.size());
  store_->known.emplace(key, id);
  store_->nodes.push_back({op, kinds, key.a, key.b, key.c, value, symbol});
  return {this, id};
}

Expr Graph::number(double value) {
  if (value == 0) value = 0;  // one zero
  return intern(Op::number, {}, {}, {}, value, kNone, 0);
}

Expr Graph::symbol(const Symbol& s) {
  if (const auto at = store_->symbol_nodes.find(s); at != store_->symbol_nodes.end()) return {this, at->second};
  store_->check_open();
  store_->symbols.push_back(s);
  const Expr e = intern(Op::symbol, {}, {}, {}, 0, static_cast<std::uint32_t>(store_->symbols.size() - 1), s.kind);
  store_->symbol_nodes.emplace(s, e.id());
  return e;
}

Op Expr::op() const { return graph_->store_->nodes[id_].op; }
double Expr::value() const { return graph_->store_->nodes[id_].value; }
std::uint16_t Expr::kinds() const { return graph_->store_->nodes[id_].kinds; }
const Symbol& Expr::symbol() const { return graph_->store_->symbols[graph_->store_->nodes[id_].symbol]; }

std::size_t Expr::arity() const {
  const auto& n = graph_->store_->nodes[id_];
  return n.a == kNone ? 0 : n.b == kNone ? 1 : n.c == kNone ? 2 : 3;
}

Expr Expr::operand(std::size_t i) const {
  const auto& n = graph_->store_->nodes[id_];
  return {graph_, i == 0 ? n.a : i == 1 ? n.b : n.c};
}

namespace {

bool is_integer(double v) { return std::abs(v) <= 1e6 && v == std::trunc(v); }

// a^n as (a, n): a itself is (a, 1).
std::pair<Expr, double> base_and_power(Expr e) {
  if (e.op() == Op::pow && e.operand(1).is_number() && is_integer(e.operand(1).value()))
    return {e.operand(0), e.operand(1).value()};
  return {e, 1};
}

Expr simplify_add(Graph& g, Expr a, Expr b) {
  if (a.is_number(0)) return b;
  if (b.is_number(0)) return a;
  if (a == b) return 2.0 * a;
  if (b.op() == Op::neg) return a - b.operand(0);
  if (a.op() == Op::neg) return b - a.operand(0);
  if (a.is_number()) std::swap(a, b);
  if (b.is_number() && b.value() < 0) return a - g.number(-b.value());
  return {};
}

Expr simplify_sub(Graph& g, Expr a, Expr b) {
  if (b.is_number(0)) return a;
  if (a.is_number(0)) return -b;
  if (a == b) return g.number(0);
  if (b.op() == Op::neg) return a + b.operand(0);
  if (b.is_number() && b.value() < 0) return a + g.number(-b.value());
  if (a.op() == Op::neg) return -(a.operand(0) + b);
  return {};
}

Expr simplify_mul(Graph& g, Expr a, Expr b) {
  if (b.is_number()) std::swap(a, b);
  if (a.is_number(0)) return a;
  if (a.is_number(1)) return b;
  if (a.is_number(-1)) return -b;
  if (a.op() == Op::neg) return -(a.operand(0) * b);
  if (b.op() == Op::neg) return -(a * b.operand(0));
  if (a.is_number() && a.value() < 0) return -(g.number(-a.value()) * b);
  if (b.is_number() && b.value() < 0) return -(a * g.number(-b.value()));  // two numbers whose product overflows
  if (a.is_number() && b.op() == Op::mul && b.operand(0).is_number()) {
    const double both = a.value() * b.operand(0).value();
    if (std::isnormal(both)) return g.number(both) * b.operand(1);
  }
  const auto [base_a, power_a] = base_and_power(a);
  const auto [base_b, power_b] = base_and_power(b);
  // x^2 * x is x^3; not with negative powers, where a pole at 0 would be lost.
  if (base_a == base_b && power_a > 0 && power_b > 0) return pow(base_a, power_a + power_b);
  return {};
}

Expr simplify_div(Graph&, Expr a, Expr b) {
  if (b.is_number(1)) return a;
  if (b.is_number(-1)) return -a;
  if (a.is_number(0) && !b.is_number(0)) return a;
  if (a.op() == Op::neg) return -(a.operand(0) / b);
  if (b.op() == Op::neg) return -(a / b.operand(0));
  return {};
}

Expr simplify_pow(Graph& g, Expr a, Expr b) {
  if (!b.is_number()) return a.is_number(1) ? a : Expr{};
  const double n = b.value();
  if (n == 0) return g.number(1);
  if (n == 1) return a;
  if (n == 0.5) return sqrt(a);
  if (n == -1) return 1.0 / a;
  if (a.op() == Op::neg && is_integer(n)) {
    const Expr p = pow(a.operand(0), n);
    return std::fmod(n, 2) == 0 ? p : -p;
  }
  if (is_integer(n) && n > 0) {
    const auto [base, power] = base_and_power(a);
    if (power > 1 && is_integer(power * n)) return pow(base, power * n);
  }
  return {};
}

// The simpler equal of op(a, b, c), or nothing.
Expr simplify(Graph& g, Op op, Expr a, Expr b, Expr c) {
  switch (op) {
    case Op::add:
      return simplify_add(g, a, b);
    case Op::sub:
      return simplify_sub(g, a, b);
    case Op::mul:
      return simplify_mul(g, a, b);
    case Op::div:
      return simplify_div(g, a, b);
    case Op::pow:
      return simplify_pow(g, a, b);
    case Op::min:
    case Op::max:
      return a == b ? a : Expr{};
    case Op::select:
      if (a.is_number()) return a.value() != 0 ? b : c;
      return b == c ? b : Expr{};
    case Op::neg:
      if (a.op() == Op::neg) return a.operand(0);
      if (a.op() == Op::sub) return a.operand(1) - a.operand(0);
      return {};
    case Op::sin:
    case Op::tan:
    case Op::asin:
    case Op::atan:
    case Op::sinh:
    case Op::tanh:
    case Op::erf:
    case Op::sign:  // odd
      return a.op() == Op::neg ? -g.make(op, a.operand(0)) : Expr{};
    case Op::cos:
    case Op::cosh:
    case Op::abs:  // even
      return a.op() == Op::neg ? g.make(op, a.operand(0)) : Expr{};
    default:
      return {};
  }
}

bool commutes(Op op) {
  return op == Op::add || op == Op::mul || op == Op::min || op == Op::max || op == Op::equal || op == Op::not_equal;
}

// Numbers lead in products and trail in sums; otherwise older nodes come first.
bool out_of_order(Op op, Expr a, Expr b) {
  if (a.is_number() != b.is_number()) return op == Op::add ? a.is_number() : b.is_number();
  return b.id() < a.id();
}
}  // namespace

Expr Graph::make(Op op, Expr a, Expr b, Expr c) {
  for (const Expr operand : {a, b, c})
    if (operand && &operand.graph() != this) throw std::logic_error("operands of two graphs");
  if (op != Op::mean && op != Op::sum && a.is_number() && (!b || b.is_number()) && (!c || c.is_number())) {
    const double v = apply(op, a.value(), b ? b.value() : 0, c ? c.value() : 0);
    if (std::isfinite(v)) return number(v);
  }
  if (const Expr s = simplify(*this, op, a, b, c)) return s;
  if (commutes(op) && out_of_order(op, a, b)) std::swap(a, b);
  const unsigned kinds = a.kinds() | (b ? b.kinds() : 0u) | (c ? c.kinds() : 0u);
  return intern(op, a, b, c, 0, kNone, static_cast<std::uint16_t>(kinds));
}
}  // namespace mckean
