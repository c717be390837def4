#include "mckean/world.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

#include "run/failure.hpp"

#ifdef MCKEAN_WITH_MPI
#include <mpi.h>
#endif

namespace mckean {

std::string World::host() const {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown host";
}

// A letter for the kind of failure, then the text.
void World::on_first(const std::function<void()>& act) {
  from_first([&] {
    act();
    return "";
  });
}

std::string World::from_first(const std::function<std::string()>& compute) {
  std::string out;
  if (first()) {
    try {
      out = "0" + compute();
    } catch (...) {
      if (size_ == 1) throw;
      const TaskFailure failure = describe(std::current_exception(), "");
      out = static_cast<char>('0' + static_cast<int>(failure.kind)) + failure.message;
    }
  }
  if (size_ > 1) broadcast(out);
  const auto kind = static_cast<TaskFailure::Kind>(out[0] - '0');
  out.erase(0, 1);
  if (kind != TaskFailure::Kind::none) raise({kind, out});
  return out;
}

#ifdef MCKEAN_WITH_MPI
namespace {

constexpr int kTag = 0;
constexpr auto kPatience = std::chrono::seconds(3);

int to_int(std::size_t n) { return static_cast<int>(n); }
}  // namespace

struct World::Mpi {
  MPI_Comm work = MPI_COMM_NULL, end = MPI_COMM_NULL;
  bool in_step = true, ours = true;
};

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int size = 0;
  MPI_Get_library_version(text.data(), &size);
  const std::string all(text.data(), static_cast<std::size_t>(size));
  return all.substr(0, all.find_first_of(",\n"));
}

World::World() {
  if (!std::getenv("OMPI_COMM_WORLD_SIZE") && !std::getenv("PMI_SIZE") && !std::getenv("PMIX_RANK")) return;
  int begun = 0, provided = 0;
  MPI_Initialized(&begun);
  if (!begun) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  mpi_ = std::make_unique<Mpi>();
  mpi_->ours = !begun;
  MPI_Comm_dup(MPI_COMM_WORLD, &mpi_->work);
  MPI_Comm_dup(MPI_COMM_WORLD, &mpi_->end);
  MPI_Comm_rank(mpi_->work, &rank_);
  MPI_Comm_size(mpi_->work, &size_);
}

World::~World() {
  if (!mpi_) return;
  if (!mpi_->in_step) MPI_Abort(MPI_COMM_WORLD, 1);
  if (mpi_->ours) {
    MPI_Finalize();
    return;
  }
  MPI_Comm_free(&mpi_->work);
  MPI_Comm_free(&mpi_->end);
}

bool World::all_failed() {
  if (!mpi_) return true;
  MPI_Request request;
  MPI_Ibarrier(mpi_->end, &request);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  int arrived = 0;
  while (true) {
    MPI_Test(&request, &arrived, MPI_STATUS_IGNORE);
    if (arrived || std::chrono::steady_clock::now() > deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  mpi_->in_step = arrived != 0;
  return mpi_->in_step;
}

void World::send(int to, const std::string& bytes) {
  MPI_Send(bytes.data(), to_int(bytes.size()), MPI_BYTE, to, kTag, mpi_->work);
  traffic_.messages += 1;
  traffic_.bytes += bytes.size();
}

std::optional<World::Message> World::receive() {
  int there = 0, size = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, kTag, mpi_->work, &there, &status);
  if (!there) return std::nullopt;
  MPI_Get_count(&status, MPI_BYTE, &size);
  Message out{status.MPI_SOURCE, std::string(static_cast<std::size_t>(size), '\0')};
  MPI_Recv(out.bytes.data(), size, MPI_BYTE, out.from, kTag, mpi_->work, MPI_STATUS_IGNORE);
  traffic_.messages += 1;
  traffic_.bytes += out.bytes.size();
  return out;
}

// In parts, since MPI counts in int.
void World::broadcast(std::string& bytes) {
  constexpr std::size_t kPart = 1 << 28;
  std::uint64_t size = bytes.size();
  MPI_Bcast(&size, 1, MPI_UINT64_T, 0, mpi_->work);
  bytes.resize(size);
  for (std::size_t at = 0; at < size; at += kPart)
    MPI_Bcast(bytes.data() + at, to_int(std::min(kPart, size - at)), MPI_BYTE, 0, mpi_->work);
  traffic_.messages += 2;
  traffic_.bytes += sizeof size + size;
}

#else

struct World::Mpi {};

std::string mpi_version() { return "without MPI"; }
World::World() {
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (size && std::string(size) != "1")
    throw RunError("this program was built without MPI; build it where libopenmpi-dev is installed, or start it alone");
}
World::~World() = default;
bool World::all_failed() { return true; }
void World::send(int, const std::string&) {}
std::optional<World::Message> World::receive() { return std::nullopt; }
void World::broadcast(std::string&) {}

#endif

World::World(Alone) {}
World World::alone() { return World(Alone{}); }
}  // namespace mckean
