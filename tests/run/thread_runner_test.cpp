#include "run/thread_runner.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "mckean/error.hpp"

namespace mckean {
namespace {

std::vector<Task> tasks_with(const std::vector<double>& costs) {
  std::vector<Task> out;
  for (std::uint32_t i = 0; i < costs.size(); ++i) out.push_back({"group", i, costs[i]});
  return out;
}

struct Memory : Keeper {
  std::map<std::uint32_t, std::vector<double>> kept;
  std::atomic<bool> stop = false;
  std::optional<std::vector<double>> recall(const Task& t) override {
    return kept.contains(t.index) ? std::optional(kept[t.index]) : std::nullopt;
  }
  void keep(const Task& t, const std::vector<double>& value, double) override { kept[t.index] = value; }
  bool stop_requested() override { return stop; }
};

TEST(ThreadRunner, ResultsAreInOrderForAnyNumberOfThreads) {
  for (const std::size_t count : {0, 1, 2, 7, 100})
    for (const std::size_t threads : {1, 2, 5, 200}) {
      std::vector<double> costs;
      for (std::size_t i = 0; i < count; ++i) costs.push_back(static_cast<double>(i * 7 % 11));
      const auto results = ThreadRunner(threads).run(tasks_with(costs), [](std::size_t i, const std::stop_token&) {
        return std::vector<double>(i % 3, static_cast<double>(i));
      });
      ASSERT_EQ(results.size(), count);
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(results[i], std::vector<double>(i % 3, static_cast<double>(i)));
    }
}

TEST(ThreadRunner, LongTasksBeginFirst) {
  std::vector<std::size_t> order;
  ThreadRunner(1).run(tasks_with({1, 5, 3, 5, 9}), [&](std::size_t i, const std::stop_token&) {
    order.push_back(i);
    return std::vector<double>{};
  });
  EXPECT_EQ(order, (std::vector<std::size_t>{4, 1, 3, 2, 0}));
}

TEST(ThreadRunner, KnownResultsAreNotComputed) {
  Memory memory;
  memory.kept[1] = {42};
  std::atomic<int> computed = 0;
  const auto results = ThreadRunner(2, memory).run(tasks_with({1, 1, 1}), [&](std::size_t i, const std::stop_token&) {
    ++computed;
    return std::vector<double>{static_cast<double>(i)};
  });
  EXPECT_EQ(computed, 2);
  EXPECT_EQ(results, (std::vector<std::vector<double>>{{0}, {42}, {2}}));
  EXPECT_EQ(memory.kept.size(), 3U);
}

TEST(ThreadRunner, FailureNamesItsTaskAndStopsTheOthers) {
  std::atomic<int> stopped = 0, begun = 0;
  const auto function = [&](std::size_t i, const std::stop_token& stop) -> std::vector<double> {
    ++begun;
    while (begun < 2) std::this_thread::yield();
    if (i == 1) throw NumericalError("too large");
    while (!stop.stop_requested()) std::this_thread::yield();
    ++stopped;
    throw Stopped{};
  };
  try {
    ThreadRunner(2).run(tasks_with({1, 1, 1, 1, 1, 1}), function);
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_STREQ(e.what(), "too large (in group, number 1)");
  }
  EXPECT_EQ(stopped, 1);  // the one that ran
  EXPECT_EQ(begun, 2);    // and no other
}

TEST(ThreadRunner, OfSeveralFailuresTheFirstPositionComesOut) {
  std::atomic<int> here = 0;
  const auto function = [&](std::size_t i, const std::stop_token&) -> std::vector<double> {
    ++here;
    while (here < 3) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(i == 0 ? 30 : 0));
    throw InputError(std::to_string(i));  // without a look at the stop token
  };
  try {
    ThreadRunner(3).run(tasks_with({1, 1, 1}), function);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "0 (in group, number 0)");
  }
}

TEST(ThreadRunner, AResultThatCannotBeKeptIsAFailure) {
  struct Full : Keeper {
    void keep(const Task& t, const std::vector<double>&, double) override {
      if (t.index == 2) throw RunError("full");
    }
  } full;
  const auto function = [](std::size_t, const std::stop_token&) { return std::vector<double>{}; };
  EXPECT_THROW(ThreadRunner(2, full).run(tasks_with({1, 1, 1, 1}), function), RunError);
}

TEST(ThreadRunner, StopKeepsWhatIsFinished) {
  Memory memory;
  const auto function = [&](std::size_t i, const std::stop_token& stop) -> std::vector<double> {
    if (i < 3) return {static_cast<double>(i)};
    memory.stop = true;
    while (!stop.stop_requested()) std::this_thread::yield();
    throw Stopped{};
  };
  EXPECT_THROW(ThreadRunner(1, memory).run(tasks_with({1, 1, 1, 1, 1}), function), Stopped);
  EXPECT_EQ(memory.kept.size(), 3U);
  EXPECT_THROW(ThreadRunner(1, memory).run(tasks_with({1, 1, 1, 1, 1}), function), Stopped);
}
}  // namespace
}  // namespace mckean
