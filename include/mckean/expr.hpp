// Expressions: nodes of a hash-consed graph, built by parsing text or with ordinary C++ operators.
//
//   Graph g;
//   Expr x = g.state("x");
//   Expr pull = sin(x - other(x));      // the node that the text "sin(x - x')" gives
//
// Equal subexpressions of one graph are one node, so == compares structure. Construction simplifies as it
// goes; no simplification changes a value beyond rounding where all parts of the expression are finite.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mckean {

enum class Op : std::uint8_t {
  number,
  symbol,
  add,
  sub,
  mul,
  div,
  pow,
  min,
  max,
  less,
  less_equal,
  equal,
  not_equal,
  polygamma,  // two operands
  select,     // three
  neg,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  exp,
  expm1,
  log,
  log1p,
  sqrt,
  abs,
  sign,
  sigmoid,
  softplus,
  relu,
  erf,
  lgamma,  // one
  mean,
  sum  // over the components of a vector; gone once a model is built
};

// What a name stands for. A set of kinds is a bit mask.
struct Kind {
  enum Bits : std::uint16_t {
    state = 1,
    other_state = 2,
    parameter = 4,
    constant = 8,
    time = 16,
    interaction = 32,
    observed = 64,
    uniform = 128,  // an input of a program that is one number per step: a moment, the step size
    column = 256    // an input of a program that differs between particles: noise, a tangent
  };
};

struct Symbol {
  Kind::Bits kind;
  std::string name;
  int index = -1;  // component of a vector, from 0; -1: a scalar, or the vector as a whole
  auto operator<=>(const Symbol&) const = default;
};

class Graph;

class Expr {
 public:
  Expr() = default;
  Op op() const;
  double value() const;          // of a number
  const Symbol& symbol() const;  // of a symbol
  std::size_t arity() const;
  Expr operand(std::size_t i) const;
  std::uint16_t kinds() const;  // all kinds of symbols below this node
  bool is_number() const { return op() == Op::number; }
  bool is_number(double v) const { return is_number() && value() == v; }
  bool has(unsigned mask) const { return (kinds() & mask) != 0; }
  std::uint32_t id() const { return id_; }  // operands always have smaller ids
  Graph& graph() const { return *graph_; }
  Expr in(Graph& copy) const { return {&copy, id_}; }  // the same node of a copy of its graph
  explicit operator bool() const { return graph_ != nullptr; }
  bool operator==(const Expr&) const = default;

 private:
  friend class Graph;
  Expr(Graph* graph, std::uint32_t id) : graph_(graph), id_(id) {}
  Graph* graph_ = nullptr;
  std::uint32_t id_ = 0;
};

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Expr number(double);
  Expr symbol(const Symbol&);
  Expr state(const std::string& name) { return symbol({Kind::state, name}); }
  Expr parameter(const std::string& name) { return symbol({Kind::parameter, name}); }
  Expr make(Op, Expr a, Expr b = {}, Expr c = {});  // simplified
  Expr node(std::uint32_t id) { return {this, id}; }
  std::size_t size() const;

  // From now on no node is added, so that many threads may read it. Whoever derives expressions takes a copy, in which
  // the nodes have the same numbers: what is derived then depends on nothing that others derive.
  void freeze();
  std::shared_ptr<Graph> copy() const;

 private:
  friend class Expr;
  struct Node;
  struct Store;
  Expr intern(Op, Expr a, Expr b, Expr c, double value, std::uint32_t symbol, std::uint16_t kinds);
  std::unique_ptr<Store> store_;
};

Expr operator+(Expr, Expr);
Expr operator-(Expr, Expr);
Expr operator*(Expr, Expr);
Expr operator/(Expr, Expr);
Expr operator-(Expr);
Expr operator+(Expr, double);
Expr operator-(Expr, double);
Expr operator*(Expr, double);
Expr operator/(Expr, double);
Expr operator+(double, Expr);
Expr operator-(double, Expr);
Expr operator*(double, Expr);
Expr operator/(double, Expr);
Expr pow(Expr, Expr);
Expr pow(Expr, double);
Expr min(Expr, Expr);
Expr max(Expr, Expr);
Expr less(Expr, Expr);
Expr less_equal(Expr, Expr);
Expr select(Expr condition, Expr yes, Expr no);
Expr sin(Expr);
Expr cos(Expr);
Expr tan(Expr);
Expr asin(Expr);
Expr acos(Expr);
Expr atan(Expr);
Expr sinh(Expr);
Expr cosh(Expr);
Expr tanh(Expr);
Expr exp(Expr);
Expr expm1(Expr);
Expr log(Expr);
Expr log1p(Expr);
Expr sqrt(Expr);
Expr abs(Expr);
Expr sign(Expr);
Expr sigmoid(Expr);
Expr softplus(Expr);
Expr relu(Expr);
Expr erf(Expr);
Expr lgamma(Expr);
Expr mean(Expr);
Expr sum(Expr);
Expr other(Expr);  // the same expression of the other particle: x becomes x'

// Sum of many terms as a balanced tree; zero needs the graph.
Expr sum_of(Graph&, std::span<const Expr> terms);

// All nodes below the roots, operands before the nodes that use them.
std::vector<Expr> reachable(std::span<const Expr> roots);

using Substitution = std::unordered_map<std::uint32_t, Expr>;  // node id -> what replaces it

// Replaces nodes, most outward first; cost linear in the graph.
Expr substitute(Expr, const Substitution&);
std::vector<Expr> substitute(std::span<const Expr>, const Substitution&);

// Directional derivative: each symbol in `tangent` moves at the given rate, all others stand still. With one
// symbol at rate 1 this is the partial derivative.
std::vector<Expr> differentiate(std::span<const Expr>, const Substitution& tangent);
Expr differentiate(Expr, const Substitution& tangent);
Expr differentiate(Expr, Expr symbol);

// Plain evaluation through libm: the obvious twin of block programs. Symbols by node id; a missing one throws.
double evaluate(Expr, const std::unordered_map<std::uint32_t, double>& values);

std::string to_text(Expr);  // parses back to the same node
std::string to_text(const Symbol&);
std::string number_to_text(double);  // shortest text that reads back to the same number
}  // namespace mckean
