// N particles that together stand for a law: Algorithm 1, one step at a time, in moments form.
#pragma once

#include <memory>
#include <optional>

#include "law/cells.hpp"
#include "law/expander.hpp"
#include "law/increments.hpp"
#include "problem/grid.hpp"

namespace mckean {

// The columns x of `rows` particles at time 0: start + sd · z, with the normals of step `number`.
void fill_start(const Model&, const Kernels&, NormalPrecision, const Stream&, std::uint32_t number, std::size_t rows,
                Columns& x);

// The particles of a law at one time: its columns x (and S), each `count` long.
struct LawParticles {
  std::span<const double* const> columns;
  std::size_t count;
};

// Means of pairwise kernels over all particles of a law, for one block of n particles that feel it.
void pairwise_means(Frame& pair, double t, const LawParticles&, std::span<const double* const> own,
                    std::span<double* const> means, std::size_t n, const Kernels&);

// How windows of expansions are chosen: around the particles, wider by `margin`, or those among the inputs (of all
// stages) of another cloud; rank_too_low where they are too small (rank 0 needs none).
struct Windows {
  double margin;
  const double* given = nullptr;
};

// Whether expansions on cells are refused where summing over pairs costs less.
enum class CellChoice { by_cost, always };

class Cloud {
 public:
  Cloud(const Model&, const Dynamics&, std::size_t particles, const Kernels&, CellChoice = CellChoice::by_cost);

  void set_parameters(std::span<const double> theta);
  void start(const Stream&, NormalPrecision);

  // The numbers that a drift reads at time t, and those that it reads at the later stages of a step from there: all
  // stages' inputs, one after the other, and their tangents parameter by parameter.
  LawStatus measure(double t, const Windows& how) { return expand(0, state(), how, t); }
  LawStatus measure_stages(const StepTime&, const Windows&);
  const std::vector<double>& inputs() const { return inputs_; }
  const std::vector<double>& tangents() const { return tangents_; }

  // Moves all particles by step k of a grid, with its normals; measures them there where the dynamics are fused.
  void advance(std::size_t k, const StepTime&, double next_t, NoiseSource&);
  bool finite() const;  // all of them

  std::size_t particles() const { return particles_; }
  // Where the interaction is expanded on cells: what the step from here reads, from measure_stages on.
  const std::shared_ptr<CellMoments>& cell_moments() const { return cell_moments_; }
  const Columns& state() const { return state_[now_]; }  // x, then S, then carried

 private:
  void run_measure(double t, const Columns& at, std::span<double* const> carried);
  void take_sums(const Frame&);
  void stand_still();
  void pairwise(double t);
  LawStatus average_by_cells(double t);
  void run_stage(std::size_t stage, const StepTime&);
  LawStatus expand(std::size_t stage, const Columns& at, const Windows&, double t);
  std::optional<std::vector<Range>> windows(std::size_t stage, const Columns& at, const Windows&) const;
  void append_stage(std::size_t stage, std::vector<double>& to) const;
  std::size_t parameters() const { return dynamics_.tangents ? dynamics_.dynamic.size() : 0; }

  const Model& model_;
  const Dynamics& dynamics_;
  const Kernels& kernels_;
  std::size_t particles_;
  Columns state_[2], xi_;
  Columns slopes_;  // of the stages but the last, each with its tangents
  Columns point_;   // x and S at a later stage's points, where the programs do not measure there
  std::size_t now_ = 0;
  std::vector<const double*> in_;
  std::vector<double*> out_;
  Frame measure_, advance_, noise_;
  std::vector<Frame> stages_;
  std::optional<Frame> pair_;
  std::optional<Cells> cells_;
  std::shared_ptr<CellMoments> cell_moments_;
  CellChoice cell_choice_;
  Expander expander_;
  std::vector<double> moments_, inputs_, tangents_, uniforms_;
  std::vector<double> stage_inputs_, stage_tangents_;
  bool measured_ = false;  // moments_ belong to the present state
};
}  // namespace mckean
