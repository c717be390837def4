#include "run/hash.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <bit>
#include <stdexcept>

namespace mckean {
namespace {

using Digest = std::array<unsigned char, 32>;

Digest digest(std::string_view bytes) {
  Digest out;
  if (EVP_Digest(bytes.data(), bytes.size(), out.data(), nullptr, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("SHA-256 is not available in OpenSSL");
  return out;
}
}  // namespace

std::string sha256(std::string_view bytes) {
  std::string out;
  for (const unsigned byte : digest(bytes)) out += fmt::format("{:02x}", byte);
  return out;
}

std::int64_t checksum(std::string_view bytes) {
  const Digest d = digest(bytes);
  std::uint64_t out = 0;
  for (std::size_t k = 0; k < 8; ++k) out = out << 8 | d[k];
  return std::bit_cast<std::int64_t>(out);
}
}  // namespace mckean
