// The processes of a run: one, or those that mpirun started.
//
// All of them run the same program and call the collective functions in the same order. Each uses MPI from one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace mckean {

// "Open MPI 4.1", or "without MPI".
std::string mpi_version();

class World {
 public:
  World();   // begins MPI where this process was started by mpirun, and only there, unless the caller has begun it
  ~World();  // where ranks left the common program at different places, all are ended
  static World alone();  // this process, whoever started it
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool first() const { return rank_ == 0; }  // the one that writes and prints
  std::string host() const;

  // Collective: what rank 0 computes, on all ranks; and so for an exception.
  std::string from_first(const std::function<std::string()>&);

  void on_first(const std::function<void()>&);  // the same, of something done there

  // At the end of a failed program: waits a moment for the others to fail too. True if they did: then rank 0 alone
  // need tell why, and all end quietly; otherwise the destructor ends the other ranks.
  bool all_failed();

  struct Message {
    int from = 0;
    std::string bytes;
  };
  void send(int to, const std::string& bytes);
  std::optional<Message> receive();  // does not wait

  struct Traffic {
    std::uint64_t messages = 0, bytes = 0;  // sent and received by this rank
  };
  Traffic traffic() const { return traffic_; }

 private:
  struct Alone {};
  explicit World(Alone);
  void broadcast(std::string&);

  struct Mpi;
  std::unique_ptr<Mpi> mpi_;
  int rank_ = 0, size_ = 1;
  Traffic traffic_;
};
}  // namespace mckean
