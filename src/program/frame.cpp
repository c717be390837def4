#include <algorithm>

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
  for (const auto& [slot, value] : program.numbers_) broadcast(slot, value);
  if (program.fixed_inputs_.empty()) execute(program.fixed_, kLanes);
  if (program.uniform_inputs_.empty()) execute(program.step_, kLanes);
}

void Frame::broadcast(Program::Slot slot, double value) {
  for (std::size_t j = 0; j < kLanes; ++j) slots_[slot][j] = value;
}

void Frame::set_fixed(std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) broadcast(program_->fixed_inputs_[i], values[i]);
  execute(program_->fixed_, kLanes);
}

void Frame::set_uniforms(std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) broadcast(program_->uniform_inputs_[i], values[i]);
  execute(program_->step_, kLanes);
}

void Frame::execute(const std::vector<Program::Step>& steps, std::size_t n) {
  const auto source = [&](Program::Slot s) { return Source{slots_[s], s < program_->scalars_ ? 0u : 1u}; };
  for (const auto& s : steps) {
    if (s.combination)
      combine(slots_[s.d0], program_->combinations_[s.a], n);
    else
      kernels_->run[static_cast<std::size_t>(s.op)](slots_[s.d0], slots_[s.d1], source(s.a), source(s.b), source(s.c),
                                                    n);
  }
}

// Long combinations in pieces, each adding to the one before.
void Frame::combine(double* to, const Program::Combination& c, std::size_t n) {
  const double *columns[kMostTerms], *coefficients[kMostTerms];
  const double* constant = c.has_constant ? slots_[c.constant] : nullptr;
  for (std::size_t first = 0; first < c.columns.size(); first += kMostTerms) {
    const std::size_t terms = std::min(kMostTerms, c.columns.size() - first);
    for (std::size_t i = 0; i < terms; ++i)
      columns[i] = slots_[c.columns[first + i]], coefficients[i] = slots_[c.coefficients[first + i]];
    const Source before = first > 0 ? Source{to, 1} : Source{constant, 0};
    kernels_->combine[terms - 1](to, before, columns, coefficients, n);
  }
}

void Frame::run(std::span<const double* const> columns, std::span<double* const> outputs, std::size_t n) {
  double** slot = slots_.data() + program_->scalars_ + program_->temporaries_;
  for (const double* c : columns) *slot++ = const_cast<double*>(c);  // inputs are only ever read
  for (double* o : outputs) *slot++ = o;
  execute(program_->block_, (n + kLanes - 1) / kLanes * kLanes);
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
