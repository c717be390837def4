#include <algorithm>
#include <cassert>

#include "program/program.hpp"

namespace mckean {

// Memory: the scalars as kLanes equal numbers each, then the temporaries.
Frame::Frame(const Program& program, const Kernels& kernels)
    : program_(&program),
      kernels_(&kernels),
      memory_(program.scalars_ * kLanes + program.temporaries_ * (kBlock + kColumnGap)),
      slots_(program.scalars_ + program.temporaries_ + program.columns_ + program.outputs_),
      lanes_(program.sums_.size()) {
  double* at = memory_.data();
  for (std::size_t i = 0; i < program.scalars_; ++i, at += kLanes) slots_[i] = at;
  for (std::size_t i = 0; i < program.temporaries_; ++i, at += kBlock + kColumnGap) slots_[program.scalars_ + i] = at;
  for (const auto& [slot, value] : program.numbers_) kernels.spread(&value, 1, &slots_[slot]);
  for (const auto slot : program.fixed_inputs_) fixed_inputs_.push_back(slots_[slot]);
  for (const auto slot : program.uniform_inputs_) uniform_inputs_.push_back(slots_[slot]);
  std::size_t terms = 0;
  for (const auto& c : program.combinations_) terms += 2 * c.columns.size();
  terms_.reserve(terms);  // pointers into it must last
  fixed_ = bind(program.fixed_);
  step_ = bind(program.step_);
  block_ = bind(program.block_);
  if (program.fixed_inputs_.empty()) execute(fixed_, kLanes);
  if (program.uniform_inputs_.empty()) execute(step_, kLanes);
}

void Frame::read(Program::Slot slot, const double*& at) {
  at = slots_[slot];
  if (slot >= program_->scalars_ + program_->temporaries_) reads_.push_back({&at, slot});
}

void Frame::write(Program::Slot slot, double*& at) {
  at = slots_[slot];
  if (slot >= program_->scalars_ + program_->temporaries_) writes_.push_back({&at, slot});
}

std::vector<Frame::Call> Frame::bind(const std::vector<Program::Step>& steps) {
  std::size_t count = 0;
  for (const auto& s : steps)
    count += s.combination ? (program_->combinations_[s.a].columns.size() + kMostTerms - 1) / kMostTerms : 1;
  std::vector<Call> calls;
  calls.reserve(count);
  const auto stride = [&](Program::Slot s) { return s < program_->scalars_ ? 0u : 1u; };
  for (const auto& s : steps) {
    if (s.combination) {
      bind_combination(s, calls);
      continue;
    }
    Call& call = calls.emplace_back();
    call.run = kernels_->run[static_cast<std::size_t>(s.op)];
    write(s.d0, call.d0), write(s.d1, call.d1);
    read(s.a, call.a.data), read(s.b, call.b.data), read(s.c, call.c.data);
    call.a.stride = stride(s.a), call.b.stride = stride(s.b), call.c.stride = stride(s.c);
  }
  return calls;
}

// Long combinations in pieces, each adding to the one before.
void Frame::bind_combination(const Program::Step& step, std::vector<Call>& calls) {
  const Program::Combination& c = program_->combinations_[step.a];
  const auto point_to = [&](const std::vector<Program::Slot>& from, std::size_t first, std::size_t count) {
    const double* const* begin = terms_.data() + terms_.size();
    for (std::size_t i = first; i < first + count; ++i) read(from[i], terms_.emplace_back());
    return begin;
  };
  for (std::size_t first = 0; first < c.columns.size(); first += kMostTerms) {
    const std::size_t terms = std::min(kMostTerms, c.columns.size() - first);
    Call& call = calls.emplace_back();
    call.combine = kernels_->combine[terms - 1];
    write(step.d0, call.d0);
    if (first > 0 || c.has_constant) read(first > 0 ? step.d0 : c.constant, call.a.data);
    call.a.stride = first > 0 ? 1 : 0;
    call.columns = point_to(c.columns, first, terms);
    call.coefficients = point_to(c.coefficients, first, terms);
  }
}

void Frame::set_fixed(std::span<const double> values) {
  kernels_->spread(values.data(), values.size(), fixed_inputs_.data());
  execute(fixed_, kLanes);
}

void Frame::set_uniforms(std::span<const double> values) {
  kernels_->spread(values.data(), values.size(), uniform_inputs_.data());
  execute(step_, kLanes);
}

void Frame::execute(const std::vector<Call>& calls, std::size_t n) {
  for (const Call& c : calls) {
    if (c.run)
      c.run(c.d0, c.d1, c.a, c.b, c.c, n);
    else
      c.combine(c.d0, c.a, c.columns, c.coefficients, n);
  }
}

void Frame::run(std::span<const double* const> columns, std::span<double* const> outputs, std::size_t n) {
  assert(n <= kBlock);
  over(n, columns, outputs);
}

void Frame::over(std::size_t n, std::span<const double* const> columns, std::span<double* const> outputs) {
  over(n, columns, outputs, 0, [](std::size_t, std::size_t) -> const double* { return nullptr; });
}

void Frame::connect() {
  for (const auto& gap : reads_) *gap.at = slots_[gap.slot];
  for (const auto& gap : writes_) *gap.at = slots_[gap.slot];
}

void Frame::add_sums(std::size_t n) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) kernels_->sum(slots_[program_->sums_[i]], n, lanes_[i].data());
}

void Frame::clear_sums() {
  for (auto& l : lanes_) l.fill(0);
}

double Frame::sum(std::size_t i) const {
  const auto& l = lanes_[i];
  return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}
}  // namespace mckean
