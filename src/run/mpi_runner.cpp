#include "run/mpi_runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "run/crew.hpp"
#include "run/hash.hpp"
#include "run/wire.hpp"

namespace mckean {
namespace {

using wire::Head;
using wire::What;

// Between two looks for messages. Costs less than 1 % of a core, and tasks take longer.
constexpr auto kNap = std::chrono::milliseconds(1);

std::int64_t checksum_of(std::span<const Task> tasks) {
  std::string names;
  for (const Task& t : tasks) names += fmt::format("{} {} {}\n", t.group, t.index, t.cost);
  return checksum(names);
}
}  // namespace

struct MpiRunner::Lead {
  struct Rank {
    std::size_t threads = 0, open = 0;  // no threads: it has not come to this batch yet
    bool asked_to_stop = false;
  };

  Lead(World& w, std::uint32_t number, Batch& b, Crew& c, std::size_t threads)
      : world(w), batch_number(number), batch(b), crew(c), ranks(static_cast<std::size_t>(w.size())) {
    ranks[0].threads = threads;
  }

  // A rank with a free thread gets a task; while there are many left, one more to be at hand when a thread is free.
  void hand_out() {
    std::size_t slots = 0;
    for (const Rank& r : ranks) slots += r.threads;
    for (const std::size_t spare : {0, 1})
      for (std::size_t r = 0; r < ranks.size(); ++r)
        while (ranks[r].threads > 0 && ranks[r].open < ranks[r].threads + spare && batch.left() > spare * slots) {
          const auto position = batch.next();
          if (!position) return;
          ++ranks[r].open;
          if (r == 0)
            crew.begin(*position);
          else
            send(r, {What::begin, batch_number, static_cast<std::uint32_t>(*position)});
        }
  }

  void handle(const World::Message& message, std::int64_t expected) {
    const Head head = wire::head_of(message.bytes);
    if (head.batch != batch_number) return;  // said before the end of an earlier batch reached it
    Rank& from = ranks[static_cast<std::size_t>(message.from)];
    switch (head.what) {
      case What::hello:
        from.threads = head.number;
        if (head.checksum != expected)
          batch.fail(0, {TaskFailure::Kind::run,
                         fmt::format("rank {} asks for other work than rank 0; start all ranks with the same program "
                                     "and the same arguments",
                                     message.from)});
        break;
      case What::result:
        --from.open;
        batch.finish(head.position, wire::doubles_of(message.bytes), head.seconds);
        break;
      case What::failure:
        --from.open;
        batch.fail(head.position, {static_cast<TaskFailure::Kind>(head.number), wire::text_of(message.bytes)});
        break;
      case What::stop:
        stop_requested = true;
        break;
      case What::idle:
        from.open = 0;
        break;
      case What::begin:
      case What::end:
        break;
    }
  }

  void stop_all() {
    if (stopping) return;
    stopping = true;
    crew.request_stop();
    for (std::size_t r = 1; r < ranks.size(); ++r)
      if (ranks[r].open > 0) send(r, {What::stop, batch_number});
  }

  bool busy() const {
    return crew.open() > 0 || std::any_of(ranks.begin() + 1, ranks.end(), [](const Rank& r) { return r.open > 0; });
  }

  void send(std::size_t to, const Head& head) { world.send(static_cast<int>(to), wire::pack(head)); }

  World& world;
  std::uint32_t batch_number;
  Batch& batch;
  Crew& crew;
  std::vector<Rank> ranks;
  bool stopping = false, stop_requested = false;
};

// The bytes of all results.
std::string MpiRunner::lead(std::span<const Task> tasks, const TaskFunction& function) {
  Batch batch(tasks, keeper_);
  if (batch.complete()) return wire::pack_all(std::move(batch).results());
  if (keeper_.stop_requested()) throw Stopped{};
  Crew crew(threads_, function);
  Lead lead(world_, batch_, batch, crew, threads_);
  const std::int64_t expected = checksum_of(tasks);
  while (true) {
    if (batch.broken() || lead.stop_requested || keeper_.stop_requested()) lead.stop_all();
    if (!lead.stopping) lead.hand_out();
    if (!lead.busy() && (batch.complete() || lead.stopping)) break;
    for (auto wait = kNap; auto outcome = crew.collect(wait); wait = std::chrono::milliseconds(0)) {
      lead.ranks[0].open -= 1;
      batch.take(std::move(*outcome));
    }
    while (const auto message = world_.receive()) lead.handle(*message, expected);
    keeper_.waiting();
  }
  return wire::pack_all(std::move(batch).results());
}

void MpiRunner::follow(std::span<const Task> tasks, const TaskFunction& function) {
  Crew crew(threads_, function);
  const auto tell = [&](const Head& head, const void* body = nullptr, std::size_t size = 0) {
    world_.send(0, wire::pack(head, body, size));
  };
  tell({What::hello, batch_, 0, static_cast<std::uint32_t>(threads_), checksum_of(tasks)});
  const std::string here = fmt::format("rank {} on {}", world_.rank(), world_.host());
  bool told_stop = false, stopping = false, told_idle = false;
  while (true) {
    for (auto wait = kNap; auto outcome = crew.collect(wait); wait = std::chrono::milliseconds(0)) {
      const auto position = static_cast<std::uint32_t>(outcome->position);
      if (outcome->error) {
        const std::string task = place_of(tasks[position]);
        const TaskFailure f = describe(outcome->error, task.empty() ? here : fmt::format("{}; {}", task, here));
        tell({What::failure, batch_, position, static_cast<std::uint32_t>(f.kind)}, f.message.data(), f.message.size());
      } else {
        tell({What::result, batch_, position, 0, 0, outcome->seconds}, outcome->value.data(),
             outcome->value.size() * sizeof(double));
      }
    }
    while (const auto message = world_.receive()) {
      const Head head = wire::head_of(message->bytes);
      if (head.what == What::end) return;
      if (head.what == What::begin && !stopping) crew.begin(head.position);
      if (head.what == What::stop) crew.request_stop(), stopping = true;
    }
    if (stopping && !told_idle && crew.open() == 0) tell({What::idle, batch_}), told_idle = true;
    if (!told_stop && keeper_.stop_requested()) tell({What::stop, batch_}), told_stop = true;
  }
}

std::vector<std::vector<double>> MpiRunner::run(std::span<const Task> tasks, const TaskFunction& function) {
  ++batch_;
  try {
    if (!world_.first()) follow(tasks, function);
    const std::string all = world_.from_first([&] {
      TaskFailure failure;
      std::string bytes;
      try {
        bytes = lead(tasks, function);
      } catch (...) {
        failure = describe(std::current_exception(), "");
      }
      for (int r = 1; r < world_.size(); ++r) world_.send(r, wire::pack({What::end, batch_}));
      if (failure.kind != TaskFailure::Kind::none) raise(failure);
      return bytes;
    });
    keeper_.completed();
    return wire::unpack_all(all, tasks.size());
  } catch (...) {
    keeper_.failed(std::current_exception());
    throw;
  }
}
}  // namespace mckean
