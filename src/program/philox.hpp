// Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011): a keyed bijection of
// 128-bit counters whose outputs pass as independent uniform words.
#pragma once

#include <array>
#include <cstdint>

namespace mckean {

inline constexpr std::uint32_t kPhiloxMultiplier[2] = {0xD2511F53, 0xCD9E8D57};
inline constexpr std::uint32_t kPhiloxWeyl[2] = {0x9E3779B9, 0xBB67AE85};
inline constexpr int kPhiloxRounds = 10;

constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> x, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const std::uint64_t p0 = std::uint64_t{kPhiloxMultiplier[0]} * x[0];
    const std::uint64_t p1 = std::uint64_t{kPhiloxMultiplier[1]} * x[2];
    x = {static_cast<std::uint32_t>(p1 >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += kPhiloxWeyl[0];
    key[1] += kPhiloxWeyl[1];
  }
  return x;
}
}  // namespace mckean
