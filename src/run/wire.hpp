// What ranks send each other during a batch, as bytes. All ranks run the same program on the same kind of machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/failure.hpp"

namespace mckean::wire {

enum class What : std::uint32_t {
  hello,    // to rank 0: this many threads are free; the checksum of the batch
  begin,    // from rank 0: a position to compute
  result,   // to rank 0
  failure,  // to rank 0: instead of a result
  stop,     // from rank 0: finish early; to rank 0: this rank was asked to stop
  idle,     // to rank 0, after stop: nothing runs any more
  end       // from rank 0: the results follow as a broadcast
};

struct Head {
  What what = What::hello;
  std::uint32_t batch = 0, position = 0, number = 0;  // number: of threads, or the kind of a failure
  std::int64_t checksum = 0;
  double seconds = 0;
};

std::string pack(const Head&, const void* body = nullptr, std::size_t size = 0);
Head head_of(const std::string& bytes);
std::string text_of(const std::string& bytes);             // of the body
std::vector<double> doubles_of(const std::string& bytes);  // of the body

// All results of a batch: of each the number of values, then the values.
std::string pack_all(const std::vector<std::vector<double>>&);
std::vector<std::vector<double>> unpack_all(const std::string&, std::size_t count);
}  // namespace mckean::wire
