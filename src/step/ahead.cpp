#include "step/ahead.hpp"

#include <algorithm>

#include "model/density.hpp"
#include "step/derivation.hpp"

namespace mckean {
namespace {

using List = std::vector<Expr>;

constexpr double kTooFar = 1e100;    // forecasts beyond it are no forecasts
constexpr double kLeastCount = 0.5;  // the least variance of a count

template <class... Lists>
List join(List first, const Lists&... rest) {
  (first.insert(first.end(), rest.begin(), rest.end()), ...);
  return first;
}

// What is seen of an observation, with its variance as a function of the state and of what was observed. Student's t
// has its information in place of a variance, which need not exist.
Moments seen_as(const ObservedColumn& column) {
  const auto& a = column.arguments;
  Moments m = moments_of(column);
  switch (column.distribution) {
    case Distribution::student_t:
      m.variance = a[2] * a[2] * (a[0] + 3.0) / (a[0] + 1.0);
      break;
    case Distribution::lognormal:
      m = {a[0], a[1] * a[1]};
      break;
    case Distribution::poisson:
      m.variance = max(a[0], column.symbol);
      break;
    case Distribution::binomial: {
      const Expr share = (column.symbol + 0.5) / (a[0] + 1.0);
      m.variance = max(m.variance, a[0] * share * (1.0 - share));
      break;
    }
    case Distribution::negative_binomial: {
      const Expr mean = max(a[0], column.symbol);
      m.variance = mean + mean * mean / a[1];
      break;
    }
    default:
      break;
  }
  if (info(column.distribution).support == DistributionInfo::count)
    m.variance = max(m.variance, column.symbol.graph().number(kLeastCount));
  return m;
}

class Derive {
 public:
  Derive(const Model& model, const MeanField& field, StepMaker maker)
      : model_(model),
        field_(field),
        graph_(model.graph()),
        step_(Derivation(model, field, {}, maker).symbolic()),
        dimension_(model.dimension()),
        sources_(model.noise_sources()) {
    directions_ = columns("direction", dimension_ * sources_);
    z_ = columns("z", sources_);
    find_seen();
    const std::size_t q = seen_.size();
    for (std::size_t i = 0; i < q * q; ++i) whitening_.push_back(uniform("W", i));
    for (std::size_t i = 0; i < q; ++i) target_.push_back(uniform("Wy", i));
  }

  const std::vector<SeenNumber>& seen() const { return seen_; }

  ProgramSpec launch() const {
    List outputs;
    for (std::size_t c = 0; c < dimension_; ++c) outputs.push_back(step_.x[c] + step_.time.flow * step_.rate[c]);
    return {model_.parameter_symbols(),
            join({step_.time.t, step_.time.flow, step_.time.root}, step_.inputs),
            join(step_.x, step_.xi),
            join(outputs, noise_directions()),
            {}};
  }

  ProgramSpec spread() const {
    const Substitution still{{step_.time.flow.id(), graph_.number(0)}};
    return {model_.parameter_symbols(),
            {step_.time.t, step_.time.root},
            step_.x,
            substitute(noise_directions(), still),
            {}};
  }

  ProgramSpec flow() const {
    return {model_.parameter_symbols(),
            join({step_.time.t, step_.time.flow}, step_.inputs),
            join(step_.x, step_.xi),
            arrival(),
            {}};
  }

  ProgramSpec carry() const {
    const List to = arrival();
    return {model_.parameter_symbols(),
            join({step_.time.t, step_.time.flow}, step_.inputs),
            join(step_.x, directions_, step_.xi),
            join(to, along_all(to)),
            {}};
  }

  ProgramSpec miss() const {
    const List e = whitened_errors(h_);
    return aimed(step_.x, {product(e, e)});
  }

  ProgramSpec steer() const {
    const List mu = columns("mu", dimension_), first = columns("first", dimension_ * sources_);
    return aimed(join(mu, first, step_.x, directions_, z_), steered(forecast_bend(), mu, first));
  }
  ProgramSpec judge() const { return aimed(join(step_.x, directions_, z_), {judged(forecast_bend())}); }
  ProgramSpec steer_last() const {
    return aimed(join(step_.x, directions_, z_), steered(last_bend(), step_.x, directions_));
  }
  ProgramSpec judge_last() const { return aimed(join(step_.x, directions_, z_), {judged(last_bend())}); }
  ProgramSpec observe() const;

 private:
  struct Bend {
    std::vector<List> b, lower;  // by source; below the diagonal of L
    List d, forward;             // D, L⁻¹ bᵀ e
  };
  Bend bend(std::vector<List> b, List e) const;
  Bend forecast_bend() const { return bend(whitened(along_all(h_)), whitened_errors(h_)); }
  Bend last_bend() const;
  List mean(const Bend&) const;
  static List backward(const Bend&, List v);
  List steered(const Bend&, const List& mu, const List& directions) const;
  Expr judged(const Bend&) const;
  ProgramSpec aimed(List of, List outputs) const {
    return {
        model_.parameter_symbols(), join({step_.time.t}, whitening_, target_), std::move(of), std::move(outputs), {}};
  }

  Expr uniform(const char* name, std::size_t i) const {
    return graph_.symbol({Kind::uniform, name, static_cast<int>(i)});
  }
  List columns(const char* name, std::size_t count) const {
    List out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(graph_.symbol({Kind::column, name, static_cast<int>(i)}));
    return out;
  }
  void find_seen();

  List noise_directions() const {
    List out;
    for (std::size_t s = 0; s < sources_; ++s)
      for (std::size_t c = 0; c < dimension_; ++c) out.push_back(step_.time.root * step_.sigma[c][s]);
    return out;
  }

  // x + flow · rate, where outside its window a component of the state is taken at the window's end.
  List arrival() const {
    Substitution inside;
    for (const Window& w : field_.windows) {
      const Expr center = field_.inputs[w.center_input], half = 1.0 / field_.inputs[w.center_input + 1];
      const Expr x = step_.x[w.component];
      inside.emplace(x.id(), min(max(x, center - half), center + half));
    }
    const List rate = substitute(step_.rate, inside);
    List to;
    for (std::size_t c = 0; c < dimension_; ++c) to.push_back(step_.x[c] + step_.time.flow * rate[c]);
    return to;
  }

  // Derivatives along direction s, one direction after the other.
  List along_all(const List& of) const {
    List out;
    for (std::size_t s = 0; s < sources_; ++s) {
      Substitution rate;
      for (std::size_t c = 0; c < dimension_; ++c) rate.emplace(step_.x[c].id(), directions_[s * dimension_ + c]);
      for (const Expr d : differentiate(of, rate)) out.push_back(d);
    }
    return out;
  }

  // W v, row by row
  List whiten(const List& v) const {
    List out;
    for (std::size_t i = 0; i < v.size(); ++i) {
      List terms;
      for (std::size_t j = 0; j < v.size(); ++j) terms.push_back(whitening_[i * v.size() + j] * v[j]);
      out.push_back(sum_of(graph_, terms));
    }
    return out;
  }

  List whitened_errors(const List& h) const {
    List e = whiten(h);
    for (std::size_t i = 0; i < e.size(); ++i) e[i] = target_[i] - e[i];
    return e;
  }

  // W ∂h along each direction
  std::vector<List> whitened(const List& slopes) const {
    const auto q = static_cast<std::ptrdiff_t>(h_.size());
    std::vector<List> b;
    for (auto at = slopes.begin(); at != slopes.end(); at += q) b.push_back(whiten({at, at + q}));
    return b;
  }

  // mu + Σ direction z
  List moved(List mu, const List& directions, const List& z) const {
    for (std::size_t c = 0; c < dimension_; ++c)
      for (std::size_t s = 0; s < sources_; ++s)
        if (!step_.sigma[c][s].is_number(0)) mu[c] = mu[c] + directions[s * dimension_ + c] * z[s];
    return mu;
  }

  Expr product(const List& u, const List& v) const {
    List terms;
    for (std::size_t i = 0; i < u.size(); ++i) terms.push_back(u[i] * v[i]);
    return sum_of(graph_, terms);
  }

  const Model& model_;
  const MeanField& field_;
  Graph& graph_;
  SymbolicStep step_;
  std::size_t dimension_, sources_;
  std::vector<SeenNumber> seen_;
  List h_, variance_, directions_, z_, whitening_, target_;
};

void Derive::find_seen() {
  for (std::size_t c = 0; c < model_.observed().size(); ++c) {
    const ObservedColumn& column = model_.observed()[c];
    if (column.distribution != Distribution::custom) {
      const bool logs = column.distribution == Distribution::lognormal;
      seen_.push_back({c, logs ? SeenNumber::Kind::logarithm : SeenNumber::Kind::value, 0});
      const Moments m = seen_as(column);
      h_.push_back(m.mean), variance_.push_back(m.variance);
      continue;
    }
    const List nodes = reachable(std::span(&column.log_density, 1));
    for (std::size_t i = 0; i < dimension_; ++i)
      if (std::ranges::find(nodes, step_.x[i]) != nodes.end()) {
        seen_.push_back({c, SeenNumber::Kind::component, i});
        h_.push_back(step_.x[i]), variance_.push_back(graph_.number(0));
      }
  }
}

ProgramSpec Derive::observe() const {
  ProgramSpec spec{
      model_.parameter_symbols(), {step_.time.t}, join(step_.x, directions_), join(h_, variance_, along_all(h_)), {}};
  for (const auto& y : model_.observed()) spec.uniforms.push_back(y.symbol);
  for (const SeenNumber& a : seen_) {
    if (a.kind != SeenNumber::Kind::component) continue;
    const Expr slope = differentiate(model_.observed()[a.column].log_density, step_.x[a.component]);
    spec.outputs.push_back(slope);
    for (const SeenNumber& b : seen_)
      if (b.column == a.column) spec.outputs.push_back(-differentiate(slope, step_.x[b.component]));
  }
  return spec;
}

// P = L D Lᵀ of b by sources and e, and the mean P⁻¹ bᵀ e.
Derive::Bend Derive::bend(std::vector<List> b, List e) const {
  const std::size_t r = sources_;
  List size;
  for (const Expr v : e) size.push_back(abs(v));
  for (const List& column : b)
    for (const Expr v : column) size.push_back(abs(v));
  // Without a forecast, the model's own step.
  const Expr known = less(sum_of(graph_, size), graph_.number(kTooFar)), zero = graph_.number(0);
  for (Expr& v : e) v = select(known, v, zero);
  for (List& column : b)
    for (Expr& v : column) v = select(known, v, zero);

  Bend out{std::move(b), std::vector<List>(r), {}, {}};
  for (std::size_t i = 0; i < r; ++i) {
    Expr pivot = 1.0 + product(out.b[i], out.b[i]), right = product(out.b[i], e);
    for (std::size_t j = 0; j < i; ++j) {
      Expr value = product(out.b[i], out.b[j]);
      for (std::size_t k = 0; k < j; ++k) value = value - out.lower[i][k] * (out.lower[j][k] * out.d[k]);
      out.lower[i].push_back(value / out.d[j]);
      pivot = pivot - out.lower[i][j] * value;
      right = right - out.lower[i][j] * out.forward[j];
    }
    out.d.push_back(max(pivot, graph_.number(1)));  // never less, but for rounding
    out.forward.push_back(right);
  }
  return out;
}

// L⁻ᵀ v
List Derive::backward(const Bend& bend, List v) {
  for (std::size_t i = v.size(); i-- > 0;)
    for (std::size_t j = i + 1; j < v.size(); ++j) v[i] = v[i] - bend.lower[j][i] * v[j];
  return v;
}

// P⁻¹ bᵀ e
List Derive::mean(const Bend& bend) const {
  List v;
  for (std::size_t i = 0; i < sources_; ++i) v.push_back(bend.forward[i] / bend.d[i]);
  return backward(bend, v);
}

// With h linear at μ, then again where that leads.
Derive::Bend Derive::last_bend() const {
  const List slopes = along_all(h_);
  Bend first = bend(whitened(slopes), whitened_errors(h_));
  if (std::ranges::none_of(slopes, [](Expr e) { return e.has(Kind::state); })) return first;
  const List z = mean(first), x = moved(step_.x, directions_, z);
  Substitution there;
  for (std::size_t c = 0; c < dimension_; ++c) there.emplace(step_.x[c].id(), x[c]);
  const std::vector<List> b = whitened(substitute(slopes, there));
  List e = whitened_errors(substitute(h_, there));
  for (std::size_t i = 0; i < e.size(); ++i)
    for (std::size_t s = 0; s < sources_; ++s) e[i] = e[i] + b[s][i] * z[s];
  return bend(b, e);
}

// Where z = L⁻ᵀ (D⁻¹ L⁻¹ bᵀ e + D^(−1/2) z0) leads, and the log of f/q.
List Derive::steered(const Bend& bend, const List& mu, const List& directions) const {
  List v, ratio;
  for (std::size_t i = 0; i < sources_; ++i) v.push_back(bend.forward[i] / bend.d[i] + z_[i] / sqrt(bend.d[i]));
  const List z = backward(bend, v);
  for (std::size_t i = 0; i < sources_; ++i) ratio.push_back(z_[i] * z_[i] - z[i] * z[i] - log(bend.d[i]));
  return join(moved(mu, directions, z), List{0.5 * sum_of(graph_, ratio)});
}

// log f/q where z is what was added: |z0|² = |z − z̄|² + |b (z − z̄)|².
Expr Derive::judged(const Bend& bend) const {
  const List mean = this->mean(bend);
  List terms, seen(h_.size(), graph_.number(0));
  for (std::size_t s = 0; s < sources_; ++s) {
    const Expr off = z_[s] - mean[s];
    terms.push_back(off * off - z_[s] * z_[s] - log(bend.d[s]));
    for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = seen[i] + bend.b[s][i] * off;
  }
  terms.push_back(product(seen, seen));
  return 0.5 * sum_of(graph_, terms);
}
}  // namespace

Ahead::Ahead(const Model& of, std::size_t rank, StepMaker maker)
    : dimension(of.dimension()), sources(of.noise_sources()) {
  const Model model = of.copy();
  const MeanField field(model, rank);
  const Derive derived(model, field, maker);
  seen = derived.seen();
  launch = Program(derived.launch());
  spread = Program(derived.spread());
  flow = Program(derived.flow());
  carry = Program(derived.carry());
  miss = Program(derived.miss());
  steer = Program(derived.steer());
  steer_last = Program(derived.steer_last());
  judge_last = Program(derived.judge_last());
  judge = Program(derived.judge());
  observe = Program(derived.observe());
}
}  // namespace mckean
