#include "mckean/session.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "mckean/error.hpp"

namespace mckean {
namespace {

class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("mckean-session-" + std::to_string(getpid()));
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  // The squares of 0, 1, 2.
  std::vector<std::vector<double>> squares(Session& session) {
    const std::vector<Task> tasks = {{"square", 0}, {"square", 1}, {"square", 2}};
    return session.runner().run(tasks, [&](std::size_t i, const std::stop_token&) {
      ++computed;
      return std::vector<double>{static_cast<double>(i * i)};
    });
  }

  std::filesystem::path folder;
  std::atomic<int> computed = 0;
  const std::vector<std::vector<double>> expected{{0}, {1}, {4}};
};

TEST_F(SessionTest, WithoutAFolderNothingIsKept) {
  Session session({.threads = 2});
  EXPECT_TRUE(session.first());
  EXPECT_EQ(squares(session), expected);
  EXPECT_EQ(squares(session), expected);
  EXPECT_EQ(computed, 6);
  session.finish();
}

TEST_F(SessionTest, AFolderHandsOutWhatItHolds) {
  for (int k = 0; k < 2; ++k) {
    Session session({.folder = folder}, {R"({"seed": 1})", "model", "data"});
    EXPECT_EQ(squares(session), expected);
    session.finish(R"({"sum": 5})");
  }
  EXPECT_EQ(computed, 3);
  EXPECT_THROW(Session({.folder = folder}, {R"({"seed": 2})", "model", "data"}), InputError);
  EXPECT_THROW(Session({.folder = folder}, {"no JSON", "model", "data"}), InputError);
}

TEST_F(SessionTest, AStopIsAskedForByTheCallback) {
  std::atomic<bool> stop = false;
  Session session({.interrupted = [&] { return stop.load(); }});
  const std::vector<Task> tasks = {{"long", 0}};
  const auto waits = [&](std::size_t, const std::stop_token& token) -> std::vector<double> {
    stop = true;
    while (!token.stop_requested()) std::this_thread::yield();
    throw Stopped{};
  };
  try {
    session.runner().run(tasks, waits);
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_STREQ(e.what(), "stopped on request");
    EXPECT_NE(dynamic_cast<const Stopped*>(&e), nullptr);
  }
}

TEST_F(SessionTest, TheObserverIsTold) {
  struct Listener : FitObserver {
    void message(std::string_view text) override { said += text; }
    void progress(const Progress& p) override { done = p.done; }
    void decided(const std::string& phase, const Decisions&) override { said += phase; }
    std::string said;
    double done = 0;
  };
  const auto listener = std::make_shared<Listener>();
  Session session({.folder = folder, .observer = listener});
  session.observer().message("a");
  session.observer().decided("b", {{"levels", {2}}});
  session.observer().progress({"main", 7, 10, {}, {}, {}});
  EXPECT_EQ(listener->said, "ab");
  EXPECT_EQ(listener->done, 7);
}

TEST_F(SessionTest, SignalsStayAsTheyAre) {
  struct sigaction before {
  }, during{};
  sigaction(SIGINT, nullptr, &before);
  Session session;
  squares(session);
  sigaction(SIGINT, nullptr, &during);
  EXPECT_EQ(before.sa_handler, during.sa_handler);
}
}  // namespace
}  // namespace mckean
