#include "step/dynamics.hpp"

#include <algorithm>

#include "step/derivation.hpp"

namespace mckean {
namespace {

std::vector<std::size_t> dynamic_parameters(const Model& model) {
  std::vector<Expr> roots;
  for (const auto& c : model.components()) roots.push_back(c.drift);
  for (const auto& i : model.interactions()) roots.push_back(i.kernel);
  const auto nodes = reachable(roots);
  std::vector<std::size_t> out;
  for (std::size_t p = 0; p < model.parameter_symbols().size(); ++p)
    if (std::ranges::find(nodes, model.parameter_symbols()[p]) != nodes.end()) out.push_back(p);
  return out;
}

}  // namespace

Dynamics::Dynamics(const Model& of, std::size_t rank, bool with_tangents, StepMaker make_step)
    : model(of.copy()),
      field(model, rank),
      dynamic(dynamic_parameters(model)),
      dimension(model.dimension()),
      sources(model.noise_sources()),
      tangents(with_tangents ? dimension * dynamic.size() : 0),
      fused(field.windows.empty()) {
  Derivation derived(model, field, with_tangents ? dynamic : std::vector<std::size_t>{}, make_step);
  stages = derived.stages();
  for (std::size_t i = 0; i < stages; ++i) shares.push_back(derived.share(i));
  move = Program(derived.move());
  if (fused && stages == 1) derived.carry();
  carried = derived.carried();
  measure = Program(derived.measure());
  advance = Program(derived.advance(fused));
  if (!field.pairwise.empty()) {
    pair.emplace(derived.pair(true));
    read_pair.emplace(derived.pair(false));
    pair_sum.emplace(derived.pair_sum());
    if (rank > 0 && cell_axes(model, field))
      cells = plan_cells(model, field, with_tangents ? dynamic : std::vector<std::size_t>{});
  }
  for (const auto& e : field.expansions) expansion_kernels.emplace_back(derived.kernel(e));
  replay = Program(derived.replay());
  transition = Program(derived.transition());
  if (with_tangents) score = Program(derived.score()), centred_score = derived.centred_score();
  for (std::size_t i = 0; i + 1 < stages; ++i) stage.emplace_back(derived.stage(i, fused));
  advance_noise = Program(derived.advance_noise(fused));
  move_noise = Program(derived.move_noise());
}

System::System(const Model& model) : model_(&model) {
  const Model own = model.copy();
  const MeanField field(own, 2);
  if (!field.expansions.empty())
    ranks_ = {16, 24, 32, 48, 64, 96, 128};
  else if (!field.pairwise.empty() && cell_axes(own, field))
    ranks_ = {1};
  ranks_.push_back(0);
}

std::shared_ptr<const Dynamics> System::dynamics(Scheme scheme, std::size_t rank, bool tangents) const {
  const std::scoped_lock lock(mutex_);
  auto& made = made_[{scheme, rank, tangents}];
  if (!made) made = std::make_shared<const Dynamics>(*model_, rank, tangents, step_of(scheme));
  return made;
}

std::shared_ptr<const Ahead> System::ahead(Scheme scheme, std::size_t rank) const {
  const std::scoped_lock lock(mutex_);
  auto& made = made_ahead_[{scheme, rank}];
  if (!made) made = std::make_shared<const Ahead>(*model_, rank, step_of(scheme));
  return made;
}
}  // namespace mckean
