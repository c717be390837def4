// Tasks on all threads of all ranks.
//
// Every rank runs the same program and so asks for the same batch. Rank 0 hands out positions, longest first, to
// whoever has a free thread (itself too), keeps the results as they arrive, and at the end broadcasts all of them, so
// that every rank goes on with the same numbers. A failure or a stop on any rank comes out of `run` on all.
#pragma once

#include <vector>

#include "mckean/world.hpp"
#include "run/batch.hpp"

namespace mckean {

class MpiRunner : public TaskRunner {
 public:
  MpiRunner(World& world, std::size_t threads, Keeper& keeper) : world_(world), threads_(threads), keeper_(keeper) {}

  std::vector<std::vector<double>> run(std::span<const Task>, const TaskFunction&) override;
  bool out_of_time() override { return keeper_.out_of_time(); }

 private:
  struct Lead;  // what rank 0 knows during a batch
  std::string lead(std::span<const Task>, const TaskFunction&);
  void follow(std::span<const Task>, const TaskFunction&);

  World& world_;
  std::size_t threads_;
  Keeper& keeper_;
  std::uint32_t batch_ = 0;
};
}  // namespace mckean
