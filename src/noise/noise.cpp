#include "noise/noise.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "program/philox.hpp"

namespace mckean {
namespace {

std::array<std::uint32_t, 4> words(const Stream& stream, std::uint32_t step, std::uint32_t word0) {
  return philox({word0, step, stream.iteration, stream.replicate_and_purpose}, stream.key);
}

double open_unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t top = (std::uint64_t{high} << 32 | low) >> 12;
  return static_cast<double>(2 * top + 1) * 0x1p-53;
}

// Tiles must be few enough for word 0 of the counter.
void require_room(NormalPrecision precision, Column column, std::size_t tiles) {
  const std::uint64_t counters = precision == NormalPrecision::single ? 8 : 16;
  const std::uint64_t most = (std::uint64_t{1} << 32) / counters / column.components;
  if (tiles > most)
    throw std::out_of_range("noise for " + std::to_string(tiles * kTileSize) + " particles of " +
                            std::to_string(column.components) + " components was asked for, at most " +
                            std::to_string(most * kTileSize) + " particles have noise");
}

// Half of the tiles, each written twice.
void mirrored(const Kernels& kernels, NormalPrecision precision, Stream stream, Column column, std::size_t first,
              std::size_t count, double* out) {
  constexpr std::size_t kTiles = 8;  // at a time
  alignas(64) double half[kTiles * kTileSize];
  stream.antithetic = false;
  const std::size_t begin = first / kTileSize, end = (first + count) / kTileSize;
  for (Column now{column.step, column.component, column.components}; now.step < column.step + column.steps; ++now.step)
    for (std::size_t tile = begin; tile < end;) {
      const std::size_t from = tile / 2, pairs = std::min(kTiles, (end + 1) / 2 - from);
      normals(kernels, precision, stream, now, from * kTileSize, pairs * kTileSize, half);
      for (; tile < end && tile / 2 < from + pairs; ++tile, out += kTileSize) {
        const double sign = tile % 2 ? -1 : 1;
        for (std::size_t i = 0; i < kTileSize; ++i) out[i] = sign * half[(tile / 2 - from) * kTileSize + i];
      }
    }
}
}  // namespace

Stream::Stream(std::uint64_t seed, std::uint32_t replicate, std::uint32_t at_iteration, Purpose purpose)
    : key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      iteration(at_iteration),
      replicate_and_purpose(replicate << 8 | static_cast<std::uint32_t>(purpose)) {
  if (replicate >= 1u << 24)
    throw std::out_of_range("replicate " + std::to_string(replicate) + " is too large, the last is 16777215");
}

void normals(const Kernels& kernels, NormalPrecision precision, const Stream& stream, Column column, std::size_t first,
             std::size_t count, double* out) {
  if (first % kTileSize != 0 || count % kTileSize != 0)
    throw std::invalid_argument("normals come in tiles of 32 particles");
  if (column.component >= column.components) throw std::out_of_range("no such component of the noise");
  if (stream.antithetic) return mirrored(kernels, precision, stream, column, first, count, out);
  require_room(precision, column, (first + count) / kTileSize);
  const auto tile = static_cast<std::uint32_t>(first / kTileSize) * column.components + column.component;
  const TileRange range = {.key = stream.key,
                           .counter = {column.step, stream.iteration, stream.replicate_and_purpose},
                           .first = tile,
                           .step = column.components,
                           .count = count / kTileSize,
                           .repeats = column.steps};
  (precision == NormalPrecision::single ? kernels.normals_float : kernels.normals_double)(range, out);
}

// A counter gives 4 normals (2 in full precision), of which one is wanted. Counter c of a tile makes its normals 2c,
// 2c + 1 and the two 16 behind them; in full precision c and c + 16.
void single_normals(const Kernels& kernels, NormalPrecision precision, const Stream& stream, Column column,
                    std::span<const StepOfParticle> at, double* out) {
  constexpr std::size_t batch = 64;
  const bool single = precision == NormalPrecision::single;
  const std::uint32_t counters = single ? 8 : 16, share = single ? 2 : 1;
  std::uint64_t word0[batch] = {}, word1[batch] = {};
  alignas(64) double tiles[batch / 8 * kTileSize];
  for (std::size_t first = 0; first < at.size(); first += batch) {
    const auto some = at.subspan(first, std::min(batch, at.size() - first));
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto [step, particle] = some[i];
      const auto own = static_cast<std::uint32_t>(particle / kTileSize);
      const std::uint32_t tile = (stream.antithetic ? own / 2 : own) * column.components + column.component;
      word0[i] = tile * counters + particle % 16 / share;
      word1[i] = column.step + step;
    }
    const CounterList list = {.key = stream.key,
                              .counter = {stream.iteration, stream.replicate_and_purpose},
                              .word0 = word0,
                              .word1 = word1,
                              .tiles = (some.size() + counters - 1) / counters};
    (single ? kernels.listed_float : kernels.listed_double)(list, tiles);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::size_t particle = some[i].particle % kTileSize;
      const std::size_t lane = i % counters * share + particle % share + particle / 16 * 16;
      const double sign = stream.antithetic && some[i].particle / kTileSize % 2 ? -1 : 1;
      out[first + i] = sign * tiles[i / counters * kTileSize + lane];
    }
  }
}

double uniform(const Stream& stream, std::uint32_t step, std::uint32_t index) {
  const auto x = words(stream, step, index / 2);
  return index % 2 == 0 ? open_unit(x[0], x[1]) : open_unit(x[2], x[3]);
}

void uniforms(const Stream& stream, std::uint32_t step, std::uint32_t first, std::size_t count, double* out) {
  if (count > std::numeric_limits<std::uint32_t>::max() - std::size_t{first})
    throw std::out_of_range("a step has no more than 2^32 uniforms");
  const auto n = static_cast<std::uint32_t>(count);
  std::uint32_t i = 0;
  if (i < n && first % 2 == 1) out[i++] = uniform(stream, step, first);
  for (; i + 1 < n; i += 2) {
    const auto x = words(stream, step, (first + i) / 2);
    out[i] = open_unit(x[0], x[1]);
    out[i + 1] = open_unit(x[2], x[3]);
  }
  if (i < n) out[i] = uniform(stream, step, first + i);
}

std::uint64_t seed_of(std::uint64_t seed, std::string_view name) {
  std::uint64_t h = seed ^ 0x9e3779b97f4a7c15;
  const auto mix = [&h](std::uint64_t value) {
    h ^= value;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
    h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
    h ^= h >> 31;
  };
  for (const char c : name) mix(static_cast<unsigned char>(c));
  mix(name.size());
  return h;
}
}  // namespace mckean
