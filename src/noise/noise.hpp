// The noise of every simulation: each variate is a pure function of what it is for.
//
// A normal is determined by (seed, replicate, iteration, purpose, step, particle, component), never by a
// thread, a vector lane or the number of particles, so any of them can be made again alone. The Philox key is
// the seed; the words of the counter are
//   0: tile * 8 + lane (single precision) or tile * 16 + lane (full),
//      tile = (particle / 32) * components + component, a tile being 32 normals
//   1: step    2: iteration    3: replicate << 8 | purpose
// Normals of both precisions and uniforms of one stream and step share counters: draw only one kind from
// each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "program/kernels.hpp"

namespace mckean {

enum class Purpose : std::uint8_t {
  law,
  law_start,
  filter,
  filter_start,
  resample,
  data,
  data_start,
  data_path,
  trace,
  score_law,
  score_law_start,
  cell
};

// single: Box-Muller in floats, |Z| <= 6.67. full: in doubles, |Z| <= 8.58, about twice the cost.
enum class NormalPrecision { single, full };

struct Stream {
  // Throws std::out_of_range unless replicate < 2^24.
  Stream(std::uint64_t seed, std::uint32_t replicate, std::uint32_t iteration, Purpose purpose);

  std::array<std::uint32_t, 2> key;
  std::uint32_t iteration, replicate_and_purpose;
  // Normals of particles 64 k + 32 .. 64 k + 63 are minus those of the 32 before them.
  bool antithetic = false;
};

// The key of what has a name: tasks of different groups draw from different keys.
std::uint64_t seed_of(std::uint64_t seed, std::string_view name);

inline constexpr std::size_t kTileSize = 32;

// Which normals of a stream: those of one of its components at one step, or at several in a row.
struct Column {
  std::uint32_t step, component, components;
  std::uint32_t steps = 1;
};

// The normals of particles first .. first + count - 1, both multiples of 32; step after step. Throws std::out_of_range
// where the particles or components are too many for the counter.
void normals(const Kernels&, NormalPrecision, const Stream&, Column, std::size_t first, std::size_t count, double* out);

// Single ones with the same bits: out[i] is that of step column.step + at[i].step.
struct StepOfParticle {
  std::uint32_t step, particle;
};
void single_normals(const Kernels&, NormalPrecision, const Stream&, Column, std::span<const StepOfParticle> at,
                    double* out);

// Uniform on (0, 1): odd multiples of 2^-53. Two to a counter, word 0 being index / 2.
double uniform(const Stream&, std::uint32_t step, std::uint32_t index);
void uniforms(const Stream&, std::uint32_t step, std::uint32_t first, std::size_t count, double* out);
}  // namespace mckean
