#include "run/wire.hpp"

#include <cstring>

namespace mckean::wire {

std::string pack(const Head& head, const void* body, std::size_t size) {
  std::string out(reinterpret_cast<const char*>(&head), sizeof head);
  if (size > 0) out.append(static_cast<const char*>(body), size);
  return out;
}

Head head_of(const std::string& bytes) {
  Head head;
  if (bytes.size() < sizeof head) throw RunError("a message between ranks is incomplete");
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

std::string text_of(const std::string& bytes) { return bytes.substr(sizeof(Head)); }

std::vector<double> doubles_of(const std::string& bytes) {
  std::vector<double> out((bytes.size() - sizeof(Head)) / sizeof(double));
  if (!out.empty()) std::memcpy(out.data(), bytes.data() + sizeof(Head), out.size() * sizeof(double));
  return out;
}

std::string pack_all(const std::vector<std::vector<double>>& results) {
  std::string out;
  for (const auto& r : results) {
    const std::uint32_t size = static_cast<std::uint32_t>(r.size());
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
    out.append(reinterpret_cast<const char*>(r.data()), r.size() * sizeof(double));
  }
  return out;
}

std::vector<std::vector<double>> unpack_all(const std::string& bytes, std::size_t count) {
  std::vector<std::vector<double>> out(count);
  std::size_t at = 0;
  const auto copy = [&](void* to, std::size_t size) {
    if (size > bytes.size() - at) throw RunError("a broadcast of results is incomplete");
    if (size > 0) std::memcpy(to, bytes.data() + at, size);
    at += size;
  };
  for (auto& r : out) {
    std::uint32_t size = 0;
    copy(&size, sizeof size);
    r.resize(size);
    copy(r.data(), size * sizeof(double));
  }
  return out;
}
}  // namespace mckean::wire
