// SHA-256, of OpenSSL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mckean {

std::string sha256(std::string_view);           // 64 hexadecimal digits
std::int64_t checksum(std::string_view bytes);  // the first 8 bytes of it
}  // namespace mckean
