// Graph → instructions → execution over blocks of particles.
//
// Shared subexpressions are computed once; what does not depend on the particle is hoisted to once per step
// (or once per parameter value); sin and cos of one argument are one instruction, as is a linear combination of
// columns; other products feeding sums are fused. A program is immutable and shared; a Frame is one thread's working
// memory for it.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "mckean/expr.hpp"
#include "program/aligned.hpp"
#include "program/kernels.hpp"

namespace mckean {

// Particles of one block: a column of a block is 2 KB, so that a program's columns stay in the L1 cache.
inline constexpr std::size_t kBlock = 256;

// each(first, count) for the blocks of n particles.
template <class Each>
void for_blocks(std::size_t n, Each&& each) {
  for (std::size_t first = 0; first < n; first += kBlock) each(first, std::min(kBlock, n - first));
}

struct ProgramSpec {
  std::vector<Expr> fixed;     // inputs that are one number for many steps: parameters
  std::vector<Expr> uniforms;  // inputs that are one number per step: time, moments
  std::vector<Expr> columns;   // inputs that differ between particles
  std::vector<Expr> outputs;   // results, one column each
  std::vector<Expr> sums;      // results that are added up over the particles
};

class Program {
 public:
  Program() = default;
  explicit Program(const ProgramSpec&);

  std::size_t instructions() const { return block_.size(); }  // a block
  double cost() const;  // of one particle, in additions: elementary functions cost several
  std::size_t outputs() const { return outputs_; }
  std::size_t sums() const { return sums_.size(); }

 private:
  friend class Frame;
  friend class Compiler;

  using Slot = std::uint32_t;  // scalars, then temporaries, inputs, outputs
  struct Step {
    Instr op;
    bool combination;  // then a is its number
    Slot d0, d1, a, b, c;
  };
  struct Combination {
    bool has_constant;
    Slot constant;
    std::vector<Slot> columns, coefficients;
  };

  std::vector<Step> fixed_, step_, block_;
  std::vector<Combination> combinations_;
  std::vector<std::pair<Slot, double>> numbers_;
  std::vector<Slot> fixed_inputs_, uniform_inputs_, sums_;
  std::size_t scalars_ = 0, temporaries_ = 0, columns_ = 0, outputs_ = 0;
};

class Frame {
 public:
  Frame() = default;
  explicit Frame(const Program&, const Kernels& = kernels());

  void set_fixed(std::span<const double>);     // all fixed inputs, in order; then all uniforms must be set anew
  void set_uniforms(std::span<const double>);  // all uniforms, in order

  // One block: n particles (n <= kBlock; columns hold n rounded up to kLanes). Outputs must not alias inputs.
  void run(std::span<const double* const> columns, std::span<double* const> outputs, std::size_t n);

  // Any number of particles, block by block.
  void over(std::size_t n, std::span<const double* const> columns, std::span<double* const> outputs);
  // The same where the last `made` columns are made for one block at a time: make(i, first) is the i-th of them, for
  // the particles from `first` on.
  template <class Make>
  void over(std::size_t n, std::span<const double* const> columns, std::span<double* const> outputs, std::size_t made,
            Make&& make);

  void clear_sums();
  double sum(std::size_t i) const;  // since clear_sums

 private:
  // A kernel and where its operands are. All is known beforehand but the caller's columns.
  struct Call {
    Kernel run;
    CombineKernel combine;  // if run is null
    double *d0, *d1;
    Source a, b, c;
    const double *const *columns, *const *coefficients;
  };
  template <class Pointer>
  struct Gap {
    Pointer* at;
    Program::Slot slot;
  };

  std::vector<Call> bind(const std::vector<Program::Step>&);
  void bind_combination(const Program::Step&, std::vector<Call>&);
  void read(Program::Slot, const double*& at);
  void write(Program::Slot, double*& at);
  void execute(const std::vector<Call>&, std::size_t n);
  double** callers_slots() { return slots_.data() + program_->scalars_ + program_->temporaries_; }
  void connect();  // the caller's columns, from their slots to the calls that use them
  void add_sums(std::size_t n);

  const Program* program_ = nullptr;
  const Kernels* kernels_ = nullptr;
  AlignedBuffer memory_;
  std::vector<double*> slots_, fixed_inputs_, uniform_inputs_;
  std::vector<Call> fixed_, step_, block_;
  std::vector<const double*> terms_;  // columns and coefficients of combinations
  std::vector<Gap<const double*>> reads_;
  std::vector<Gap<double*>> writes_;
  std::vector<std::array<double, kLanes>> lanes_;
};

template <class Make>
void Frame::over(std::size_t n, std::span<const double* const> columns, std::span<double* const> outputs,
                 std::size_t made, Make&& make) {
  for (std::size_t first = 0; first < n; first += kBlock) {
    double** slot = callers_slots();
    for (const double* c : columns) *slot++ = const_cast<double*>(c) + first;  // inputs are only ever read
    for (std::size_t i = 0; i < made; ++i) *slot++ = const_cast<double*>(make(i, first));
    for (double* o : outputs) *slot++ = o + first;
    const std::size_t count = std::min(kBlock, n - first);
    connect();
    execute(block_, (count + kLanes - 1) / kLanes * kLanes);
    add_sums(count);
  }
}
}  // namespace mckean
